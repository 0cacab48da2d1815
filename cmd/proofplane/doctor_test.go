package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"proofplane/fixtures/plane/assets"
	"proofplane/suites/requirement"
)

func examined(t *testing.T, want int, args ...string) map[string]found {
	t.Helper()
	o := call(append([]string{"doctor", "--output", "json"}, args...)...)
	var all []found
	if err := json.Unmarshal([]byte(o.stdout), &all); err != nil || o.code != want {
		t.Fatalf("exit code %d, want %d; %v\n%s%s", o.code, want, err, o.stdout, o.stderr)
	}
	out := map[string]found{}
	for _, f := range all {
		out[f.What] = f
		if f.State != stateOK && f.State != stateMissing || (f.State == stateMissing) != (f.Mend != "") {
			t.Errorf("%+v", f)
		}
	}
	return out
}

func TestDoctor(t *testing.T) {
	dir := noAssets(t)
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(t.TempDir(), "none.sock"))
	call("doctor", "--tier", "moon").refused(t, exitUsage, `"moon"`, "render")
	call("doctor", "--output", "yaml").refused(t, exitUsage, `"yaml"`)

	all := examined(t, exitConformant)
	tiers := map[requirement.Tier]bool{}
	for _, f := range all {
		tiers[f.Tier] = true
	}
	if len(tiers) != 3 {
		t.Errorf("tiers %v, want three", tiers)
	}
	for what, state := range map[string]string{"Go toolchain": stateOK, "etcd v3.6.8": stateMissing, "loopback": stateOK, "Docker engine": stateMissing} {
		if all[what].State != state {
			t.Errorf("%s: %+v, want %s", what, all[what], state)
		}
	}
	if m := all["etcd v3.6.8"].Mend; m != "proofplane assets build etcd" {
		t.Errorf("etcd: mend %q", m)
	}
	for what, f := range examined(t, exitNotJudged, "--tier", "plane") {
		if f.Tier != requirement.Plane {
			t.Errorf("%s is of tier %s", what, f.Tier)
		}
	}
	examined(t, exitConformant, "--tier", "render")
	if o := call("doctor", "--tier", "kind"); o.code != exitNotJudged || !strings.HasPrefix(o.stdout, "TIER") || !strings.Contains(o.stderr, "the tier kind lacks") {
		t.Errorf("%+v", o)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("looking made the cache: %v", err)
	}

	t.Setenv("PATH", t.TempDir())
	all = examined(t, exitNotJudged, "--tier", "plane")
	if all["Go toolchain"].State != stateMissing || !strings.Contains(all["kwok v0.8.0"].Note, "without Go") {
		t.Errorf("without go: %+v, %+v", all["Go toolchain"], all["kwok v0.8.0"])
	}
	t.Setenv(assets.CacheVariable, "relative")
	if all = examined(t, exitNotJudged, "--tier", "plane"); all["asset cache"].State != stateMissing {
		t.Errorf("cache that cannot be used: %+v", all)
	}
}

func TestPingDocker(t *testing.T) {
	sock := filepath.Join(t.TempDir(), "d.sock")
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	code := http.StatusOK
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/_ping" {
			t.Errorf("asked for %s", r.URL)
		}
		w.WriteHeader(code)
	})}
	go func() { _ = srv.Serve(l) }() // ends with Close
	defer srv.Close()
	ask := func(host string) error { return pingDocker(context.Background(), host) }
	if err := ask("unix://" + sock); err != nil {
		t.Error(err)
	}
	code = http.StatusInternalServerError
	for host, want := range map[string]string{"unix://" + sock: "500", "unix://" + sock + ".none": "no such file", "ssh://host": "unix:// or tcp://"} {
		if err := ask(host); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", host, err, want)
		}
	}
}

func TestWhatIsReadOfTheMachine(t *testing.T) {
	root := write(t, t.TempDir(), map[string]string{
		"proc/meminfo": "MemTotal:        8388608 kB\nMemFree: 1 kB\n",
		"status":       "Name:\tx\nCapEff:\t0000000001200000\n",
		"other":        "Name:\tx\n",
	})
	if got, err := totalMemory(root); err != nil || got != 8<<30 {
		t.Errorf("memory %d, %v", got, err)
	}
	for limit, want := range map[string]uint64{"max\n": 8 << 30, "1073741824\n": 1 << 30, "9223372036854771712\n": 8 << 30} {
		write(t, root, map[string]string{"sys/fs/cgroup/memory.max": limit})
		if got, err := totalMemory(root); err != nil || got != want {
			t.Errorf("memory with the limit %q: %d, %v", limit, got, err)
		}
	}
	if _, err := totalMemory(t.TempDir()); err == nil {
		t.Error("memory of nothing is known")
	}
	if caps, err := capabilities(filepath.Join(root, "status")); err != nil || caps != 1<<capSysAdmin|1<<capSysResource {
		t.Errorf("capabilities %x, %v", caps, err)
	}
	if _, err := capabilities(filepath.Join(root, "other")); err == nil {
		t.Error("capabilities of nothing are known")
	}
	if free, err := freeDisk(filepath.Join(root, "not", "there")); err != nil || free == 0 {
		t.Errorf("free %d, %v", free, err)
	}
}
