package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"proofplane/fixtures/plane/assets"
)

func assetsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "assets",
		Short: "Build and find the programs of a control plane",
		Long: `The plane tier runs real programs: an API server, etcd, controllers. They are
built by the go command from modules whose content is pinned in proofplane, and
kept in the user's cache folder, or in that of PROOFPLANE_CACHE. Nothing comes
from elsewhere than the module proxy (GOPROXY).

Programs in the folder of KUBEBUILDER_ASSETS are used instead when it is set.`,
		Example: `  proofplane assets build
  proofplane assets build etcd kube-apiserver
  proofplane assets list
  KUBEBUILDER_ASSETS=$(proofplane assets path) go test ./...`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage(errors.New("assets needs one of build, list, path: see `proofplane assets --help`"))
		},
	}
	cmd.AddCommand(assetsBuildCommand(), assetsListCommand(), assetsPathCommand())
	return cmd
}

// assetsError gives an error of the assets its exit code.
func assetsError(err error) error {
	var unknown *assets.UnknownError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown):
		return usage(err)
	case errors.Is(err, context.Canceled):
		return &exitError{exitNotJudged, errors.New("interrupted: what was being built is removed, what was built before is kept")}
	}
	return &exitError{exitNotJudged, err}
}

func assetsBuildCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "build [NAME…]",
		Short: "Build assets that are not in the cache: those named, or all",
		Long: `Build assets that are not in the cache: those named, or all that
KUBEBUILDER_ASSETS does not give. Where each one is goes to the standard output.

All of them cold take about 1,200 s of CPU and 4 GiB of disk.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := assets.Open()
			if err != nil {
				return usage(err)
			}
			selected, err := store.Select(args...)
			if err != nil {
				return assetsError(err)
			}
			for _, a := range selected {
				if len(args) == 0 && store.Given != "" {
					e, err := store.Find(cmd.Context(), a)
					if err != nil {
						return assetsError(err)
					}
					if e.State == assets.Given {
						fmt.Fprintln(cmd.OutOrStdout(), e.Path)
						continue
					}
				}
				path, err := store.Build(cmd.Context(), a, cmd.ErrOrStderr())
				if err != nil {
					return assetsError(err)
				}
				fmt.Fprintln(cmd.OutOrStdout(), path)
			}
			return nil
		},
	}
}

func assetsListCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the assets, and where each one is",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "table" && output != "json" {
				return usage(fmt.Errorf("--output %q: use table or json", output))
			}
			store, err := assets.Open()
			if err != nil {
				return usage(err)
			}
			all, err := store.List(cmd.Context())
			if err != nil {
				return assetsError(err)
			}
			w := cmd.OutOrStdout()
			if output == "json" {
				enc := json.NewEncoder(w)
				enc.SetIndent("", " ")
				return enc.Encode(all)
			}
			tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
			fmt.Fprintln(tw, "NAME\tVERSION\tSTATE\tSIZE\tPATH")
			for _, e := range all {
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", e.Name, orDash(e.Version), e.State, megabytes(e.Size), orDash(e.Path))
			}
			return tw.Flush()
		},
	}
	cmd.Flags().StringVar(&output, "output", "table", "table or json")
	return cmd
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func megabytes(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

func assetsPathCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "path [NAME…]",
		Short: "Print one folder that holds the assets by their names, as envtest wants it",
		Long: `Print one folder that holds all built assets by their names, as envtest wants
it; KUBEBUILDER_ASSETS when that is set. It builds nothing: exit code 3 when one
of those named is not built, or without names kube-apiserver or etcd.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := assets.Open()
			if err != nil {
				return usage(err)
			}
			dir, err := store.Bin(cmd.Context(), args...)
			if err != nil {
				return assetsError(err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), dir)
			return err
		},
	}
}
