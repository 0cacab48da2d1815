package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"proofplane/fixtures/platform"
	"proofplane/fixtures/tree"
	"proofplane/reports"
	"proofplane/suites/requirement"
)

// treeFlags say which tree is judged.
type treeFlags struct {
	tree, rev, profile string
	seed               int64

	given func(flag string) bool
}

func (f *treeFlags) add(cmd *cobra.Command) {
	f.given = cmd.Flags().Changed
	cmd.Flags().StringVar(&f.tree, "tree", "", "platform source tree: a directory (default: the built-in reference platform)")
	cmd.Flags().StringVar(&f.rev, "rev", "", "git revision of --tree to read instead of its files; the work tree is left alone")
	cmd.Flags().StringVar(&f.profile, "platform", tree.DefaultProfile, "conventions of the tree")
	cmd.Flags().Int64Var(&f.seed, "seed", 1, "decides the stand-ins for random values")
}

// load reads and indexes the tree. Whatever is wrong with it is a usage error.
func (f *treeFlags) load() (*requirement.Env, error) {
	// An empty value is a variable that was not set: what is built in must not
	// pass for what was meant.
	for flag, value := range map[string]string{"tree": f.tree, "rev": f.rev} {
		if value == "" && f.given(flag) {
			return nil, usage(fmt.Errorf("--%s is empty: give it a value, or leave it out", flag))
		}
	}
	profile, err := tree.LoadProfile(f.profile)
	if err != nil {
		return nil, usage(fmt.Errorf("--platform: %w; this version knows %s", err, tree.DefaultProfile))
	}
	var files *tree.Files
	var src tree.Source
	hint := "; name the root of the platform's repository with --tree"
	switch {
	case f.tree == "" && f.rev != "":
		return nil, usage(errors.New("--rev needs --tree: it names a revision of that repository"))
	case f.tree == "":
		fsys, err := platform.FS()
		if err != nil {
			return nil, fmt.Errorf("reference platform: %w", err)
		}
		files, src, err = tree.OpenFS(fsys, "reference platform")
		if err != nil {
			return nil, fmt.Errorf("reference platform: %w", err)
		}
	case f.rev != "":
		files, src, err = tree.OpenRevision(f.tree, f.rev)
		hint = "; name the root of a git repository with --tree, and a branch, tag or commit that it holds with --rev"
	default:
		files, src, err = tree.OpenDir(f.tree)
	}
	if err != nil {
		return nil, usage(fmt.Errorf("%w%s", err, hint))
	}
	t, err := tree.Load(files, src, profile)
	if err != nil {
		return nil, usage(fmt.Errorf("%w%s", err, hint))
	}
	return requirement.NewEnv(t, f.seed), nil
}

// command runs on the same tree, as a POSIX shell reads it.
func (f *treeFlags) command() string {
	command := "proofplane run"
	if f.tree != "" {
		command += " --tree " + reports.Quote(f.tree)
	}
	if f.rev != "" {
		command += " --rev " + reports.Quote(f.rev)
	}
	if f.profile != tree.DefaultProfile {
		command += " --platform " + reports.Quote(f.profile)
	}
	if f.seed != 1 {
		command += fmt.Sprintf(" --seed %d", f.seed)
	}
	return command
}
