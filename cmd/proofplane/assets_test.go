package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"proofplane/fixtures/plane/assets"
)

// noAssets gives a test a cache of its own, in which nothing is.
func noAssets(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	t.Setenv(assets.CacheVariable, dir)
	t.Setenv(assets.KubebuilderAssets, "")
	return dir
}

// given makes a folder with programs that do nothing.
func given(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		if err := os.WriteFile(filepath.Join(dir, n), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAssetsRefuse(t *testing.T) {
	noAssets(t)
	call("assets").refused(t, exitUsage, "build, list, path")
	call("assets", "biuld").refused(t, exitUsage, "biuld", "--help")
	call("assets", "build", "ectd").refused(t, exitUsage, `"ectd"`, "etcd", "kwok")
	call("assets", "path", "ectd").refused(t, exitUsage, `"ectd"`)
	call("assets", "list", "--output", "yaml").refused(t, exitUsage, `"yaml"`, "table or json")
	call("assets", "path").refused(t, exitNotJudged, "etcd, kube-apiserver are not built", "proofplane assets build etcd kube-apiserver")
	call("assets", "path", "kwok").refused(t, exitNotJudged, "kwok is not built")
	t.Setenv(assets.CacheVariable, "relative")
	for _, sub := range []string{"build", "list", "path"} {
		call("assets", sub).refused(t, exitUsage, assets.CacheVariable, "absolute")
	}
	noAssets(t)
	t.Setenv("PATH", t.TempDir())
	call("assets", "build", "etcd").refused(t, exitNotJudged, "no go in PATH", "https://go.dev")
}

func TestAssetsList(t *testing.T) {
	dir := noAssets(t)
	t.Setenv(assets.KubebuilderAssets, given(t, "etcd"))
	o := call("assets", "list", "--output", "json")
	var all []assets.Entry
	if err := json.Unmarshal([]byte(o.stdout), &all); err != nil || o.code != 0 {
		t.Fatalf("exit code %d, %v\n%s%s", o.code, err, o.stdout, o.stderr)
	}
	if len(all) != len(assets.All()) {
		t.Errorf("%d entries, want %d", len(all), len(assets.All()))
	}
	for _, e := range all {
		want := assets.NotBuilt
		if e.Name == "etcd" {
			want = assets.Given
		}
		if e.State != want || (e.Version == "") != (e.State == assets.Given) {
			t.Errorf("%+v, want state %s", e, want)
		}
	}
	table := call("assets", "list").stdout
	if lines := strings.Split(strings.TrimSpace(table), "\n"); len(lines) != 1+len(all) || !strings.HasPrefix(lines[0], "NAME") || !strings.Contains(table, "KUBEBUILDER_ASSETS") || !strings.Contains(table, "not built") {
		t.Errorf("table:\n%s", table)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("listing made the cache: %v", err)
	}
}

func TestAssetsPathIsTheGivenFolder(t *testing.T) {
	noAssets(t)
	dir := given(t, "etcd", "kube-apiserver")
	t.Setenv(assets.KubebuilderAssets, dir)
	if o := call("assets", "path"); o.code != 0 || o.stdout != dir+"\n" {
		t.Errorf("%+v, want %s", o, dir)
	}
	t.Setenv(assets.KubebuilderAssets, given(t, "etcd"))
	call("assets", "path").refused(t, exitNotJudged, "KUBEBUILDER_ASSETS", "no kube-apiserver")
	t.Setenv(assets.KubebuilderAssets, dir+"/none")
	call("assets", "path").refused(t, exitUsage, "KUBEBUILDER_ASSETS", "none")
}
