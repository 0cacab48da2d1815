//go:build unix

package suites_test

import (
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
	"proofplane/suites/runner"
)

// More variables of the environment, all of them optional.
const (
	chartVariable = "PROOFPLANE_CHART" // chart of BenchmarkValueSets, by name
	helmVariable  = "PROOFPLANE_HELM"  // helm program of BenchmarkCharts
)

// realTree loads the tree that is measured. There is no point in measuring the
// reference platform.
func realTree(b *testing.B) *requirement.Env {
	b.Helper()
	runner.TuneMemory() // as the program does
	if os.Getenv(treeVariable) == "" {
		b.Skipf("NOT MEASURED: set %s to the absolute path of a platform's checkout", treeVariable)
	}
	env, err := load()
	if err != nil {
		b.Fatal(err)
	}
	return env
}

// cpu is the time that this process has spent on the processor.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCharts measures what it costs to read a tree and to load, render,
// decode and locate each of its charts, and compares that with one process of
// `helm template` a chart on the same charts with the same values.
func BenchmarkCharts(b *testing.B) {
	realTree(b)
	var ours time.Duration
	var env *requirement.Env
	var inputs []render.Input
	for b.Loop() {
		begin := cpu(b)
		env, inputs = realTree(b), nil
		for _, c := range env.Renderable() {
			if c.Err != nil {
				continue
			}
			r := env.Engine.Render(env.Input(c, requirement.Situation{}))
			if r.Failure != nil || len(r.Objects) == 0 {
				continue
			}
			if o := r.Objects[0]; env.Engine.Locate(r, o, "metadata", "name") == "" {
				b.Fatalf("%s: no place", c.Dir)
			}
			inputs = append(inputs, r.Input)
		}
		ours += cpu(b) - begin
	}
	ours /= time.Duration(b.N)
	if len(inputs) == 0 {
		b.Fatal("no chart renders")
	}

	helm := helmProgram(b)
	root := checkout(b, env.Tree)
	values := filepath.Join(b.TempDir(), "values.yaml")
	var theirs time.Duration
	refused := 0
	for _, in := range inputs {
		merged := map[string]any{}
		for _, layer := range in.Values {
			merged = render.MergeValues(merged, layer)
		}
		data, err := yaml.Marshal(merged)
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(values, data, 0o600); err != nil {
			b.Fatal(err)
		}
		cmd := exec.Command(helm, "template", in.Release, filepath.Join(root, in.Chart), "--namespace", in.Namespace, "--values", values,
			"--kube-version", render.DefaultKubeVersion, "--api-versions", strings.Join(in.Capabilities.APIVersions, ","))
		err = cmd.Run()
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit):
			refused++ // a chart that looks up what only a cluster has
		case err != nil:
			b.Fatal(err)
		}
		theirs += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(len(inputs)), "charts")
	b.ReportMetric(ours.Seconds(), "cpu-s")
	b.ReportMetric(theirs.Seconds(), "helm-cpu-s")
	b.ReportMetric(ours.Seconds()/theirs.Seconds(), "cpu/helm-cpu")
	b.Logf("%d charts: %.2f s of CPU, helm template %.2f s (%d refused there): ratio %.3f, wanted 0.25 or less", len(inputs), ours.Seconds(), theirs.Seconds(), refused, ours.Seconds()/theirs.Seconds())
}

// checkout is the folder of a tree on disk: helm reads no git revision.
func checkout(b *testing.B, t *tree.Tree) string {
	b.Helper()
	if t.Source.Requested != "" {
		b.Skipf("NOT MEASURED: helm reads files, so leave %s out", revVariable)
	}
	return t.Source.Name
}

// helmProgram builds the command line program of the Helm module that is built
// in, unless the environment names one.
func helmProgram(b *testing.B) string {
	b.Helper()
	if p := os.Getenv(helmVariable); p != "" {
		return p
	}
	version, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "helm.sh/helm/v3").Output()
	if err != nil {
		b.Fatalf("version of Helm: %v", err)
	}
	bin := b.TempDir()
	cmd := exec.Command("go", "install", "helm.sh/helm/v3/cmd/helm@"+strings.TrimSpace(string(version)))
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=-mod=mod")
	cmd.Dir = bin
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("build helm: %v\n%s\nset %s to a helm program", err, out, helmVariable)
	}
	return filepath.Join(bin, "helm")
}

// BenchmarkValueSets renders one chart with 246 sets of values, all distinct.
func BenchmarkValueSets(b *testing.B) {
	const sets = 246
	env := realTree(b)
	name := os.Getenv(chartVariable)
	if name == "" {
		name = "kubernetes"
	}
	var chart *tree.Chart
	for _, c := range env.Renderable() {
		if path.Base(c.Dir) == name && c.Err == nil {
			chart = c
		}
	}
	if chart == nil {
		b.Fatalf("the tree has no chart %q: set %s", name, chartVariable)
	}
	points, err := env.Sweep(chart).Points()
	if err != nil {
		b.Fatal(err)
	}
	var accepted []matrix.Point
	for _, p := range points {
		if env.Engine.Render(env.SweepInput(chart, p)).Failure == nil {
			accepted = append(accepted, p)
		}
	}
	if len(accepted) == 0 {
		b.Fatalf("%s refuses all values", chart.Dir)
	}
	var inputs []render.Input
	for i := range sets {
		in := env.SweepInput(chart, accepted[i%len(accepted)])
		in.Values = append(in.Values[:len(in.Values):len(in.Values)], map[string]any{env.Tree.Profile.Injected.Cluster: map[string]any{"set": strconv.Itoa(i)}})
		inputs = append(inputs, in)
	}
	var spent time.Duration
	objects, refused := 0, 0
	begin := time.Now()
	for b.Loop() {
		engine := render.NewEngine(env.Tree, 1)
		start := cpu(b)
		objects, refused = 0, 0
		for _, in := range inputs {
			r := engine.Render(in)
			objects += len(r.Objects)
			if r.Failure != nil {
				refused++
			}
		}
		spent += cpu(b) - start
	}
	wall := time.Since(begin)
	each := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(b.N*sets) }
	if objects == 0 {
		b.Fatal("nothing was rendered")
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(each(wall), "ms/set")
	b.ReportMetric(each(spent), "cpu-ms/set")
	b.Logf("%s, %d sets (%d refused), %d objects: %.1f ms each, wanted 14.1 or less; %.1f ms of CPU", chart.Dir, sets, refused, objects, each(wall), each(spent))
}

// BenchmarkRun measures the program on a whole run at the render tier.
func BenchmarkRun(b *testing.B) {
	env := realTree(b)
	bin := filepath.Join(b.TempDir(), "proofplane")
	if out, err := exec.Command("go", "build", "-o", bin, "proofplane/cmd/proofplane").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	args := []string{"run", "--quiet", "--tier", "render", "--tree", env.Tree.Source.Name}
	if rev := env.Tree.Source.Requested; rev != "" {
		args = append(args, "--rev", rev)
	}
	var wall, spent time.Duration
	var rss int64
	summary := ""
	for b.Loop() {
		cmd := exec.Command(bin, append(args, "--out", b.TempDir())...)
		begin := time.Now()
		out, err := cmd.Output()
		wall += time.Since(begin)
		if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 {
			b.Fatalf("exit code %d: %v\n%s", code, err, out)
		}
		spent += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		if runtime.GOOS != "darwin" {
			used *= 1024
		}
		rss = max(rss, used)
		for _, line := range strings.Split(string(out), "\n") {
			if strings.HasPrefix(line, "cases: ") {
				summary = line
			}
		}
	}
	wall /= time.Duration(b.N)
	spent /= time.Duration(b.N)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(wall.Seconds(), "s")
	b.ReportMetric(spent.Seconds(), "cpu-s")
	b.ReportMetric(float64(rss)/(1<<30), "GiB")
	b.Logf("%s: %.1f s, wanted less than 60; %.1f s of CPU on %d processors; %.2f GiB, wanted less than 2", summary, wall.Seconds(), spent.Seconds(), runtime.GOMAXPROCS(0), float64(rss)/(1<<30))
}
