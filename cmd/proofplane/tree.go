package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"proofplane/fixtures/platform"
	"proofplane/fixtures/tree"
	"proofplane/suites/requirement"
)

// treeFlags say which tree is judged.
type treeFlags struct {
	tree, rev, profile string
	seed               int64
}

func (f *treeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.tree, "tree", "", "platform source tree: a directory (default: the built-in reference platform)")
	cmd.Flags().StringVar(&f.rev, "rev", "", "git revision of --tree to read instead of its files; the work tree is left alone")
	cmd.Flags().StringVar(&f.profile, "platform", tree.DefaultProfile, "conventions of the tree")
	cmd.Flags().Int64Var(&f.seed, "seed", 1, "decides the stand-ins for random values")
}

// load reads and indexes the tree. Whatever is wrong with it is a usage error.
func (f *treeFlags) load() (*requirement.Env, error) {
	profile, err := tree.LoadProfile(f.profile)
	if err != nil {
		return nil, usage(err)
	}
	var files *tree.Files
	var src tree.Source
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
	default:
		files, src, err = tree.OpenDir(f.tree)
	}
	if err != nil {
		return nil, usage(err)
	}
	t, err := tree.Load(files, src, profile)
	if err != nil {
		return nil, usage(fmt.Errorf("%w; name the root of the platform's repository with --tree", err))
	}
	return requirement.NewEnv(t, f.seed), nil
}
