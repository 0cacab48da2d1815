package grd

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/requirement"
)

// hookAnnotation makes an object a hook of Helm.
const hookAnnotation = "helm.sh/hook"

// releaseTimeout is how long Flux lets Helm wait for a hook where nothing is
// said.
const releaseTimeout = 5 * time.Minute

// GRD03: hooks end, and may do what they do.
var GRD03 = &requirement.Requirement{
	ID:        "GRD-03",
	Statement: "Hooks: waits are bounded below the release timeout, roles cover the verbs used, deletion works at full quota, a destructive delete hook never meets uninstall remediation",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "field bugs: a tenant's deletion hung because the role of its cleanup hook lacked watch, which kubectl needs to wait for what it deleted; and never gave up because that wait had no bound",
	Axes:      "every chart that renders hooks, pairwise over its gates, the source of its modules, and the APIs of the cluster",
	How:       "reads the shell scripts of hook Jobs. Judged of the sentence: waits and roles. A wait (kubectl delete of what does not go at once, kubectl rollout status, a loop that nothing ends) needs a bound of its own or of the Job; in a delete hook the bounds that every run spends add up to no more than the timeout of the release: the longest that a chart states for it, else five minutes. What kubectl does needs its verbs in the roles that the chart binds to the Job's service account: get, list, watch, delete, patch; a delete that waits needs get, list and watch, but does without where get is not granted: it does not wait then. What a script does not say plainly is not judged. must where a hook may run for ever or longer than its release, or lacks a verb that it fails without; should where a wait lacks watch alone: kubectl lists once more whenever its watch is refused, and so still sees the end; all such hooks are one finding",
	Fix:       "give the wait a --timeout or --wait=false, and the Job activeDeadlineSeconds; grant get, list and watch on what a hook waits for",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		return e.Subjects(func(c *tree.Chart) bool { return embeds(e.Tree, c, hookAnnotation) }, e.Sweep, "no chart renders hooks"), nil
	},
	Judge: judgeGRD03,
}

// embeds tells whether a template of the chart, or of one that it embeds, has
// the text.
func embeds(t *tree.Tree, c *tree.Chart, text string) bool {
	found := false
	err := t.Files.Walk(c.Dir, func(p string) error {
		if found || !strings.Contains(p, "/templates/") {
			return nil
		}
		data, err := t.Files.ReadFile(p)
		found = found || strings.Contains(string(data), text)
		return err
	})
	return err == nil && found
}

var (
	shells     = []string{"sh", "bash", "ash", "dash"}
	shellFlag  = regexp.MustCompile(`^[-+][a-z]*c[a-z]*$`)
	kubeconfig = regexp.MustCompile(`\bKUBECONFIG=`)
	testHooks  = []string{"test", "test-success", "test-failure"}
)

func judgeGRD03(_ context.Context, c *requirement.Check) {
	r, ok := c.Result(c.SweepInput(c.Subject.Chart, c.Point))
	if !ok {
		return
	}
	for _, o := range r.Objects {
		hook := o.GetAnnotations()[hookAnnotation]
		if o.GetKind() != "Job" || hook == "" || slices.Contains(testHooks, strings.TrimSpace(hook)) {
			continue
		}
		judgeHook(c, r, o, hook)
	}
	if c.Assertions == 0 {
		c.Skip("no hook with a script that waits or speaks to the cluster is rendered here")
	}
}

// hookRun is a hook Job under judgement.
type hookRun struct {
	*requirement.Check
	r     *render.Result
	o     *render.Object
	hook  string
	ns    string
	scope *Grants // nil where nothing is known of it
	// deadline of the Job, 0 for none.
	deadline time.Duration

	// elsewhere is set where kubectl speaks to a cluster that the script names.
	elsewhere bool

	unbounded []call
	missing   map[string][]call // by the verbs
	polls     []call            // that wait without watch
}

// call is a call of kubectl that is at fault.
type call struct {
	what string // delete pvc
	line int
	at   []string // path of the script
	res  Resource
}

func list(calls []call) string {
	var out []string
	for _, c := range calls {
		out = append(out, fmt.Sprintf("kubectl %s (line %d)", c.what, c.line))
	}
	return strings.Join(out, ", ")
}

func judgeHook(c *requirement.Check, r *render.Result, o *render.Object, hook string) {
	h := &hookRun{Check: c, r: r, o: o, hook: hook, ns: o.GetNamespace(), missing: map[string][]call{}}
	if h.ns == "" {
		h.ns = r.Input.Namespace
	}
	pod := requirement.Map(o.Object, "spec", "template", "spec")
	if account, _ := pod["serviceAccountName"].(string); account != "" {
		h.scope = GrantsTo(r, h.ns, account)
		if h.scope.Partial || h.scope.Empty() {
			h.scope = nil
		}
	}
	h.deadline = seconds(requirement.Field(o.Object, "spec", "activeDeadlineSeconds"))
	var sum time.Duration
	for _, list := range []string{"initContainers", "containers"} {
		for i, container := range requirement.List(pod, list) {
			text, field, ok := script(container)
			if !ok {
				continue
			}
			at := []string{"spec", "template", "spec", list, fmt.Sprint(i), field}
			h.elsewhere = kubeconfig.MatchString(text) || slices.ContainsFunc(requirement.List(container, "env"), func(v any) bool { return requirement.Field(v, "name") == "KUBECONFIG" })
			sum += h.judgeScript(ParseShell(text, plainEnv(container)), at)
		}
	}
	if len(h.unbounded) > 0 {
		h.Fail(h.finding(h.unbounded[0].at, "unbounded", fmt.Sprintf("waits without a bound in %s, and has no activeDeadlineSeconds: what holds an object by a finalizer holds the release", list(h.unbounded)), "--timeout, --wait=false, or activeDeadlineSeconds"))
	}
	for _, verbs := range requirement.SortedKeys(h.missing) {
		calls := h.missing[verbs]
		f := h.finding(calls[0].at, "verbs "+verbs, fmt.Sprintf("calls %s, and the roles of its service account do not grant %s there: the hook fails, or waits in vain", list(calls), verbs), "rules that grant "+verbs+"; a delete that waits needs get, list and watch")
		f.Place = h.rulePlace(calls[0].res)
		h.Fail(f)
	}
	if len(h.polls) > 0 {
		f := h.finding(h.polls[0].at, "", fmt.Sprintf("calls %s, and the roles of its service account do not grant watch there: kubectl lists again and again instead, up to half a minute apart", list(h.polls)), "watch beside list in the rule")
		f.Severity, f.Root, f.Place = requirement.Should, "watch", h.rulePlace(h.polls[0].res)
		h.Fail(f)
	}
	if sum > 0 && strings.Contains(hook, "delete") {
		if h.deadline > 0 {
			sum = min(sum, h.deadline)
		}
		limit := releaseTimeout
		if sum > limit {
			limit = max(limit, stated(c, c.Subject.Chart))
		}
		c.Assert(sum <= limit, func() requirement.Finding {
			return h.finding([]string{"spec"}, "sum", fmt.Sprintf("may wait for %s, and its release is given %s: Helm gives up on the hook before the hook does", sum, limit), "waits that add up to less than the timeout of the release")
		})
	}
}

func seconds(v any) time.Duration {
	switch n := v.(type) {
	case int64:
		return time.Duration(n) * time.Second
	case float64:
		return time.Duration(n) * time.Second
	}
	return 0
}

// script returns the shell script that a container runs, and the field that
// holds it.
func script(container any) (text, field string, ok bool) {
	var words []string
	var fields []string
	for _, f := range []string{"command", "args"} {
		for _, w := range requirement.List(container, f) {
			s, isText := w.(string)
			if !isText {
				return "", "", false
			}
			words, fields = append(words, s), append(fields, f)
		}
	}
	if len(words) < 3 || !slices.Contains(shells, path.Base(words[0])) {
		return "", "", false
	}
	for i := 1; i+1 < len(words) && strings.HasPrefix(words[i], "-"); i++ {
		if shellFlag.MatchString(words[i]) {
			return words[i+1], fields[i+1], true
		}
	}
	return "", "", false
}

// plainEnv are the variables of a container with a value that is written out.
func plainEnv(container any) map[string]string {
	out := map[string]string{}
	for _, v := range requirement.List(container, "env") {
		name, _ := requirement.Field(v, "name").(string)
		if value, ok := requirement.Field(v, "value").(string); ok && name != "" {
			out[name] = value
		}
	}
	return out
}

// judgeScript judges a script and returns how long every run of it may wait,
// at the least.
func (h *hookRun) judgeScript(s *Script, at []string) time.Duration {
	var sum time.Duration
	for _, l := range s.Loops {
		endless := l.Endless()
		if !endless && h.deadline == 0 {
			continue // it may have a bound: nothing is known of it
		}
		h.Assert(!endless || h.deadline > 0, func() requirement.Finding {
			return h.finding(at, "loop", fmt.Sprintf("has a loop (line %d of its script) that nothing ends but what it waits for, and no activeDeadlineSeconds: it runs for ever when that does not come", l.Line), "a number of attempts, or activeDeadlineSeconds")
		})
	}
	for _, c := range s.Commands {
		k, ok := ReadKubectl(c)
		if !ok {
			continue
		}
		k.Remote = k.Remote || h.elsewhere
		h.judgeVerbs(k, at)
		if !k.Waits() || !h.lingers(k) {
			continue
		}
		d, bounded, known := k.Bound()
		if !known {
			continue
		}
		h.Assertions++
		if !bounded && h.deadline == 0 {
			h.unbounded = append(h.unbounded, call{what: k.Verb + " " + resources(k), line: k.Line, at: at})
		}
		if bounded && !k.Sometimes {
			sum += d
		}
	}
	return sum
}

// lingers tells whether a wait may take long: a deletion only of what is not
// gone at once, and only where the hook may look at it.
func (h *hookRun) lingers(k *Kubectl) bool {
	if k.Verb != "delete" {
		return true
	}
	return slices.ContainsFunc(k.Targets, func(t Target) bool {
		res := ResourceOf(t.Resource)
		if !res.Lingers && !k.Foreground() {
			return false
		}
		return k.Remote || h.scope == nil || !h.scope.Knows(res) || h.allows(k, "get", res, single(t))
	})
}

// single is the target as kubectl asks for it when it waits: each object by its
// name.
func single(t Target) Target {
	if !t.Named {
		t.Named, t.NameKnown = true, false
	}
	return t
}

func resources(k *Kubectl) string {
	var out []string
	for _, t := range k.Targets {
		if !slices.Contains(out, t.Resource) {
			out = append(out, t.Resource)
		}
	}
	return strings.Join(out, ",")
}

func (h *hookRun) allows(k *Kubectl, verb string, res Resource, t Target) bool {
	ns := k.Namespace
	if ns == "" && k.NamespaceKnown {
		ns = h.ns
	}
	if k.AllNamespaces {
		return h.scope.Allows(verb, res, t, "", true)
	}
	return h.scope.Allows(verb, res, t, ns, k.NamespaceKnown)
}

// judgeVerbs asserts that a call of kubectl is granted.
func (h *hookRun) judgeVerbs(k *Kubectl, at []string) {
	if h.scope == nil || k.Remote {
		return
	}
	for _, t := range k.Targets {
		res := ResourceOf(t.Resource)
		if !res.GroupKnown && !h.scope.Knows(res) {
			continue // a short name, or a kind: nothing says which resource it is
		}
		var verbs, waiting []string
		switch k.Verb {
		case "get":
			verbs = []string{"get"}
			if !t.Named {
				verbs = []string{"list"}
			}
			if k.Has("watch") {
				verbs = append(verbs, "watch")
			}
		case "delete":
			verbs = []string{"delete"}
			if !t.Named {
				verbs = append(verbs, "list")
			}
			if k.Waits() && (res.Lingers || k.Foreground()) && h.allows(k, "get", res, single(t)) {
				waiting = []string{"list", "watch"}
			}
		case "patch", "annotate", "label":
			verbs = []string{"patch", "get"}
			if !t.Named {
				verbs[1] = "list"
			}
		case "wait", "rollout status":
			waiting = []string{"get", "list", "watch"}
		default:
			continue
		}
		var missing []string
		for _, v := range verbs {
			if !h.allows(k, v, res, t) {
				missing = append(missing, v)
			}
		}
		for _, v := range waiting {
			if !h.allows(k, v, res, single(t)) && !slices.Contains(missing, v) {
				missing = append(missing, v)
			}
		}
		h.Assertions++
		lacks := strings.Join(missing, ", ")
		switch c := (call{k.Verb + " " + t.Resource, k.Line, at, res}); {
		case lacks == "watch" && slices.Contains(waiting, lacks):
			h.polls = append(h.polls, c)
		case lacks != "":
			h.missing[lacks] = append(h.missing[lacks], c)
		}
	}
}

// rulePlace is the line of the rule that a verb on a resource belongs into.
func (h *hookRun) rulePlace(res Resource) string {
	role, path := h.scope.Where(res)
	return h.Engine.Locate(h.r, role, path...)
}

func (h *hookRun) finding(at []string, cause, message, want string) requirement.Finding {
	return requirement.Finding{Result: h.r, Object: h.o, Path: at, Cause: cause, Message: fmt.Sprintf("the %s hook %s %s", h.hook, h.o.GetName(), message), Want: want}
}

// stated is the longest timeout for the uninstallation of a chart that a
// HelmRelease in the tree states, 0 for none.
func stated(c *requirement.Check, chart *tree.Chart) time.Duration {
	var longest time.Duration
	for _, by := range c.Renderable() {
		if by.Err != nil || !c.Mentions(by, "HelmRelease") {
			continue
		}
		for _, o := range c.Engine.Render(c.SweepInput(by, nil)).Objects {
			if !render.IsHelmRelease(o.Unstructured) {
				continue
			}
			a := c.Tree.Artifact(requirement.Nested(o.Unstructured, "spec", "chartRef", "name"))
			if a == nil || a.Chart != chart {
				continue
			}
			text := requirement.Nested(o.Unstructured, "spec", "uninstall", "timeout")
			if text == "" {
				text = requirement.Nested(o.Unstructured, "spec", "timeout")
			}
			if d, err := time.ParseDuration(text); err == nil {
				longest = max(longest, d)
			}
		}
	}
	return longest
}
