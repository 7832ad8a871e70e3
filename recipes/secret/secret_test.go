package secret

import "testing"

func TestIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"HF_TOKEN", "x", true},
		{"GITHUB_PAT", "ghp_x1", true},
		{"WANDB_KEY", "abc123", true},
		{"TOKENS", "a b", true},
		{"API_KEYS", "a", true},
		{"api_key", "dummy", true},
		{"api-key", "dummy", true},
		{"DB_PASSWD", "a", true},
		{"API key", "dummy", true},
		{"Max tokens", "2000", false},
		{"AWS_SECRET_ACCESS_KEY", "a", true},
		{"SERVICE_CREDENTIALS", "a", true},
		{"A_CREDENTIAL", "/path", true},
		// the word is not the last one
		{"TOKEN_DIR", "/x", false},
		{"AWS_SECRET_ACCESS", "x", false},
		{"KEYBOARD", "de", false},
		{"PATH", "/bin", false},
		{"COMPAT", "x", false},
		// known settings
		{"TLLM_DISAGG_GEN_PRIORITIZE_FIRST_TOKEN", "yes", false},
		{"MAX_TOKENS", "many", false},
		{"prefill-per-token", "40µs", false},
		{"TRTLLM_MAX_TOKENS", "many", false},
		{"DYN_TOKENIZER", "fastokens", false},
		{"DYN_TOKENIZER_KEY", "x", false},
		{"PREFIX_CACHE_KEY", "block", false},
		// switches and numbers
		{"HF_TOKEN", "", false},
		{"HF_TOKEN", "0", false},
		{"HF_TOKEN", "1", false},
		{"HF_TOKEN", "true", false},
		{"HF_TOKEN", "False", false},
		{"N_KEYS", "-12.5", false},
		{"HF_TOKEN", "12a", true},
		{"max_num_tokens", "1e3", false},
		{"max_num_tokens", "many", false},
		{"STOP_TOKENS", "0x10", false},
		{"STOP_TOKENS", "1_000", false},
		{"STOP_TOKENS", "null", false},
		{"HF_TOKEN", "0xdeadbeefdeadbeef", true},
		// secrets within a value
		{"A", "http://bob:hunter2@proxy:3128", true},
		{"A", "docker://u:p@ss@nvcr.io#x", true},
		{"A", "https://:1234@h/x", true},
		{"A", "http://h:80/x?a=1&access_token=abc", true},
		{"A", "Authorization: Basic abc", true},
		{"A", "http://h:2379,http://i:2379", false},
		{"A", "http://bob@h:2379/a@b:c", false},
		{"A", "http://[fe80::1]:2379", false},
		{"A", "Bearer authentication", false},
		{"A", "'Authorization: Bearer' sesame", true},
		{"A", "Authorization: Bearer", false},
		{"A", "Bearer abcdefghijklmnopqrstuvwx", true},
		// shapes, whatever the name is
		{"A", "ghp_x1", true},
		{"A", "github_pat_11A", true},
		{"A", "https://ghp_x1@github.com/x", true},
		{"A", "--token hf_aBcDeF", true},
		{"A", "hf_abcdefghijklmnopqrstuvwxyz", true},
		{"PREFIX_CACHE_KEY", "sk-abc123", true},
		{"A", "sk-proj-AbC", true},
		{"AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE", true},
		{"A", "hf_transfer", false},
		{"A", "/scratch/sk-data1/x", false},
		{"A", "task-001", false},
		{"A", "high", false},
	} {
		if got := Is(c.name, c.value); got != c.want {
			t.Errorf("Is(%q, %q) = %v", c.name, c.value, got)
		}
		want := c.value
		if c.want {
			want = Hidden
		}
		if got := Redact(c.name, c.value); got != want {
			t.Errorf("Redact(%q, %q) = %q", c.name, c.value, got)
		}
	}
}

func TestRedactYAML(t *testing.T) {
	t.Parallel()
	const text = `a: 1
max_tokens: 2000
api_key: "sesame"
nested:
  WANDB_KEY: |
    line one

    line two
  other: {x: 1}
list:
  - plain
  - hf_aBcDeF
  - https://u:pw@github.com
  url: https://ghp_x1@github.com
  args: --seed 7 --api-key sesame
end: true
`
	const want = `a: 1
max_tokens: 2000
api_key: ‹hidden›
nested:
  WANDB_KEY: ‹hidden›
  other: {x: 1}
list:
  - plain
  - *********
  - https://u:**@github.com
  url: ‹hidden›
  args: --seed 7 --api-key ******
end: true
`
	if got := RedactYAML(text); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestRedactText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"export HF_TOKEN=abc B=1":                 "export HF_TOKEN=*** B=1",
		`WANDB_KEY="a b" x`:                       `WANDB_KEY="***" x`,
		`WANDB_KEY='a b`:                          `WANDB_KEY='* b`,
		`{"GITHUB_PAT": "ghp", 'A': 'b'}`:         `{"GITHUB_PAT": "***", 'A': 'b'}`,
		"--export=ALL,HF_TOKEN=abc,B=2":           "--export=ALL,HF_TOKEN=***,B=2",
		"HF_TOKEN=1 MAX_TOKENS=x A_CACHE_KEY=y":   "HF_TOKEN=1 MAX_TOKENS=x A_CACHE_KEY=y",
		"unexpected TOKEN: x; eos_token=</s> a=b": "unexpected TOKEN: x; eos_token=</s> a=b",
		"cloning https://ghp_x1@github.com/x now": "cloning *************************** now",
		"ids sk-abc123,hf_AbC and hf_transfer":    "ids *********,****** and hf_transfer",
		"proxy http://bob:a@b@h:3128/x":           "proxy http://bob:***@h:3128/x",
		"get http://h/?key=abc&n=1 now":           "get http://h/?key=***&n=1 now",
		"-H 'Authorization: Bearer abc' x":        "-H 'Authorization: Bearer ***' x",
		"-H 'X-Api-Key: abc' x":                   "-H 'X-Api-Key: ***' x",
		"Bearer a1b2":                             "Bearer ****",
		`--api-key=abc --password 'a b' --token`:  `--api-key=*** --password '***' --token`,
		"--max-tokens 20 --token 5 --key --x y":   "--max-tokens 20 --token 5 --key --x y",
		"HF_TOKEN=":                               "HF_TOKEN=",
		"=a :b":                                   "=a :b",
		"plain":                                   "plain",
	} {
		if got := RedactText(text); got != want {
			t.Errorf("RedactText(%q) = %q, want %q", text, got, want)
		}
	}
}

func BenchmarkRedactText(b *testing.B) {
	const line = "2026-11-30 12:00:00 INFO x_request_id=\"0a1b2c3d\" dynamo.request.id=11-22 handled in 12 ms, status=200"
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		RedactText(line)
	}
}
