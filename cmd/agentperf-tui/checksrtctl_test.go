package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// srtctl of the test knows roles.prefill.turbo and the key fast of the cluster file. It records its calls.
const srtctlStandIn = `#!/bin/sh
echo "$@" >>"${0%/*}/calls"
case "$*" in
schema) cat <<'END'
{"type": "object", "properties": {"roles": {"$ref": "#/$defs/Roles"}}, "additionalProperties": false,
 "$defs": {"Roles": {"type": "object",
   "properties": {"prefill": {"anyOf": [{"$ref": "#/$defs/Role"}, {"type": "null"}]}}},
  "Role": {"type": "object", "properties": {"nodes": {}, "turbo": {"type": "integer"}}, "additionalProperties": false}}}
END
;;
"schema --cluster") echo '{"type": "object", "properties": {"fast": {}}, "additionalProperties": false}' ;;
*) exit 3 ;;
esac
`

func TestCheckAsksSrtctl(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.writeExample("c1010")
	bin := s.path("bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "PATH="+bin)
	check := []string{"check", "r.yaml", "--workload", "w.yaml", "--srtctl"}
	s.want(0, check...).contains(t, "0 errors") // nothing to ask about, so it need not be installed
	s.replace("r.yaml", "  prefill:\n", "  prefill:\n    turbo: 1\n    trubo: 2\n")
	s.want(2, check...).contains(t, "no srtctl on the PATH", "[command-not-found]")
	if err := os.WriteFile(filepath.Join(bin, "srtctl"), []byte(srtctlStandIn), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/bin/cat", filepath.Join(bin, "cat")); err != nil {
		t.Fatal(err)
	}
	s.want(1, "check", "r.yaml", "--workload", "w.yaml").contains(t,
		"roles.prefill.turbo: unknown to this version\n", "2 errors")
	s.want(1, check...).contains(t,
		"warning: roles.prefill.turbo: unknown to this version; the installed srtctl accepts it",
		"error: roles.prefill.trubo: unknown to this version; the installed srtctl refuses it too", "1 error, 1 warning")
	s.replace("r.yaml", "    trubo: 2\n", "")
	s.want(0, check...).contains(t, "0 errors, 1 warning")
	if calls := s.read("bin/calls"); calls != "schema\nschema\n" {
		t.Errorf("srtctl was called: %q", calls)
	}
	s.write("srtslurm.yaml", "fast: true\nslow: true\n")
	s.want(1, append(check, "--cluster", "srtslurm.yaml")...).contains(t,
		"warning: fast: unknown to this version; the installed srtctl accepts it",
		"error: slow: unknown to this version; the installed srtctl refuses it too")
	if err := os.WriteFile(filepath.Join(bin, "srtctl"), []byte("#!/bin/sh\necho usage\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.want(2, check...).contains(t, "read the schema of srtctl", "[srtctl-failed]")
	if err := os.WriteFile(filepath.Join(bin, "srtctl"), []byte("#!/bin/sh\necho no >&2; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.want(2, check...).contains(t, "ask srtctl for its schema: srtctl: no")
	if text := s.read("r.yaml"); !strings.Contains(text, "turbo: 1") {
		t.Error("check changed the recipe")
	}
}
