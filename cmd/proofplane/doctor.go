package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"proofplane/fixtures/plane/assets"
	"proofplane/suites/requirement"
)

// What the plane tier needs.
const (
	buildDisk   = 4 << 30
	planeMemory = 6 << 30
)

// found is something that a tier needs, as it is on this machine.
type found struct {
	Tier  requirement.Tier `json:"tier"`
	What  string           `json:"what"`
	State string           `json:"state"` // ok or missing
	Note  string           `json:"note,omitempty"`
	Mend  string           `json:"mend,omitempty"`
}

const (
	stateOK      = "ok"
	stateMissing = "missing"
)

func (f found) judged(err error, mend string) found {
	f.State = stateOK
	if err != nil {
		f.State, f.Note, f.Mend = stateMissing, err.Error(), mend
	}
	return f
}

func doctorCommand() *cobra.Command {
	var tier, output string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine has and lacks for each tier",
		Long: `Say what this machine has and lacks for each tier, and what mends it. It builds
and changes nothing.

Exit codes: 0 the tier render can be used, or with --tier that tier; 3 something
that it needs is missing.`,
		Example: `  proofplane doctor
  proofplane doctor --tier plane`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "table" && output != "json" {
				return usage(fmt.Errorf("--output %q: use table or json", output))
			}
			examine := map[requirement.Tier]func(context.Context) []found{
				requirement.Render: examineRender, requirement.Plane: examinePlane, requirement.Kind: examineKind,
			}
			tiers := []requirement.Tier{requirement.Render, requirement.Plane, requirement.Kind}
			judged := requirement.Render
			if cmd.Flags().Changed("tier") {
				judged = requirement.Tier(tier)
				if examine[judged] == nil {
					return usage(fmt.Errorf("--tier %q: use render, plane or kind", tier))
				}
				tiers = []requirement.Tier{judged}
			}
			all := []found{}
			missing := 0
			for _, t := range tiers {
				for _, f := range examine[t](cmd.Context()) {
					f.Tier = t
					all = append(all, f)
					if t == judged && f.State != stateOK {
						missing++
					}
				}
			}
			if cmd.Context().Err() != nil {
				return &exitError{exitNotJudged, errors.New("interrupted")}
			}
			if err := showFound(cmd, all, output); err != nil {
				return err
			}
			if missing > 0 {
				return &exitError{exitNotJudged, fmt.Errorf("the tier %s lacks %d of what it needs", judged, missing)}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&tier, "tier", "", "look at this tier only, and end with 3 when it lacks something: render, plane or kind")
	cmd.Flags().StringVar(&output, "output", "table", "table or json")
	return cmd
}

func showFound(cmd *cobra.Command, all []found, output string) error {
	w := cmd.OutOrStdout()
	if output == "json" {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(all)
	}
	clean := strings.NewReplacer("\n", " ", "\t", " ")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "TIER\tWHAT\tSTATE\tNOTE\tMEND IT WITH")
	for _, f := range all {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", f.Tier, f.What, f.State, orDash(clean.Replace(f.Note)), orDash(clean.Replace(f.Mend)))
	}
	return tw.Flush()
}

func examineRender(context.Context) []found {
	return []found{{What: "proofplane", State: stateOK, Note: "version " + version() + "; this tier needs no Go, no cluster and no network"}}
}

func examinePlane(ctx context.Context) []found {
	store, err := assets.Open()
	if err != nil {
		return append([]found{found{What: "asset cache"}.judged(err, "export "+assets.CacheVariable+"=/path/to/folder")}, examineHost()...)
	}
	var out []found
	toolchain, err := store.Toolchain(ctx)
	if f := strings.Fields(toolchain); len(f) > 0 {
		toolchain = f[0]
	}
	out = append(out, found{What: "Go toolchain", Note: toolchain}.judged(err, "install Go: https://go.dev/doc/install"))
	unbuilt := false
	for _, a := range store.Assets {
		row := found{What: a.Name + " " + a.Version}
		e, ferr := store.Find(ctx, a)
		switch {
		case ferr != nil && err != nil:
			ferr = errors.New("not known without Go")
		case ferr == nil && e.State == assets.NotBuilt:
			ferr = errors.New(string(e.State))
		case ferr == nil && e.State == assets.Given:
			row.What = a.Name // whatever version that is
		}
		unbuilt = unbuilt || ferr != nil
		row.Note = string(e.State) + ", " + megabytes(e.Size)
		out = append(out, row.judged(ferr, "proofplane assets build "+a.Name))
	}
	disk := found{What: "disk for builds"}
	dirs, err := store.Folders(ctx)
	if err != nil {
		dirs = []string{store.Dir}
	}
	free, at, err := leastFree(dirs)
	disk.Note = gibibytes(free) + " free in " + at
	switch {
	case err != nil:
	case free < buildDisk && unbuilt:
		err = fmt.Errorf("%s, needs %s", disk.Note, gibibytes(buildDisk))
	case !unbuilt:
		disk.Note += "; all is built"
	}
	out = append(out, disk.judged(err, "export "+assets.CacheVariable+"=/path/with/space GOCACHE=/path/with/space/go-build GOMODCACHE=/path/with/space/go-mod"))
	return append(out, examineHost()...)
}

// examineHost looks at what a running control plane needs.
func examineHost() []found {
	memory := found{What: "memory"}
	total, err := totalMemory("/")
	memory.Note = gibibytes(total)
	if err == nil && total < planeMemory {
		err = fmt.Errorf("%s, needs %s", memory.Note, gibibytes(planeMemory))
	}
	loop := found{What: "loopback", Note: "a port of 127.0.0.1 can be listened on and reached"}
	return []found{
		memory.judged(err, "use a machine or a container limit of 6 GiB"),
		loop.judged(tryLoopback(), "ip link set lo up"),
	}
}

// leastFree finds the folder with the least room.
func leastFree(dirs []string) (least uint64, at string, err error) {
	for _, d := range dirs {
		free, err := freeDisk(d)
		if err != nil {
			return 0, d, fmt.Errorf("%s: not known: %w", d, err)
		}
		if at == "" || free < least {
			least, at = free, d
		}
	}
	return least, at, nil
}

// freeDisk is what is free where a folder is, or will be.
func freeDisk(dir string) (uint64, error) {
	for {
		free, err := assets.Free(dir)
		up := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || up == dir {
			return free, err
		}
		dir = up
	}
}

func gibibytes(n uint64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

// totalMemory is the memory of the machine, or what a container's limit leaves
// of it.
func totalMemory(root string) (uint64, error) {
	b, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return 0, fmt.Errorf("not known: %w", err)
	}
	total := uint64(0)
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemTotal:" {
			kib, err := strconv.ParseUint(f[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("/proc/meminfo: %w", err)
			}
			total = kib << 10
		}
	}
	if total == 0 {
		return 0, errors.New("not known: no MemTotal in /proc/meminfo")
	}
	for _, p := range []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		b, err := os.ReadFile(filepath.Join(root, p))
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64); err == nil { // else "max"
			total = min(total, limit)
		}
	}
	return total, nil
}

func tryLoopback() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	c, err := net.DialTimeout("tcp", l.Addr().String(), 2*time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// Capabilities that the nodes of a kind cluster need, by their bits.
const (
	capSysAdmin    = 21
	capSysResource = 24
)

func examineKind(ctx context.Context) []found {
	docker := found{What: "Docker engine", Note: "answers"}
	mend := "systemctl start docker"
	err := pingDocker(ctx, os.Getenv("DOCKER_HOST"))
	if errors.Is(err, fs.ErrPermission) {
		mend = "usermod -aG docker $USER, and log in again"
	}
	out := []found{docker.judged(err, mend)}
	caps, err := capabilities("/proc/self/status")
	for _, c := range []struct {
		name string
		bit  uint
	}{{"CAP_SYS_ADMIN", capSysAdmin}, {"CAP_SYS_RESOURCE", capSysResource}} {
		lack := err
		if lack == nil && caps>>c.bit&1 == 0 {
			lack = errors.New("not held by this process")
		}
		out = append(out, found{What: c.name}.judged(lack, "run it as root, in a container with --cap-add "+strings.TrimPrefix(c.name, "CAP_")))
	}
	return out
}

// pingDocker asks the engine at a host, which is written as in DOCKER_HOST,
// whether it is there.
func pingDocker(ctx context.Context, host string) error {
	if host == "" {
		host = "unix:///var/run/docker.sock"
	}
	u, err := url.Parse(host)
	if err != nil {
		return fmt.Errorf("DOCKER_HOST: %w", err)
	}
	network, address := u.Scheme, u.Host
	switch network {
	case "unix":
		address = u.Path
	case "tcp":
	default:
		return fmt.Errorf("DOCKER_HOST %q: use unix:// or tcp://", host)
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://docker/_ping", nil)
	if err != nil {
		return err
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", resp.Status)
	}
	return nil
}

// capabilities reads the effective set of a process.
func capabilities(status string) (uint64, error) {
	b, err := os.ReadFile(status)
	if err != nil {
		return 0, fmt.Errorf("not known: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "CapEff:"); ok {
			return strconv.ParseUint(strings.TrimSpace(v), 16, 64)
		}
	}
	return 0, fmt.Errorf("not known: no CapEff in %s", status)
}
