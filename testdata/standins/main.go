// Command standins stands in for the programs of a TensorRT-LLM image on a test cluster: etcd,
// numactl, trtllm-llmapi-launch and python3 -m dynamo.{trtllm,frontend}, depending on the name by
// which it is called. Each checks its arguments and environment, implements the interfaces that a
// run needs, and writes its arguments and environment to /logs/received. STANDIN_FAULT=NAME:FAULT
// injects a fault; when it takes effect, /logs/received/fault is written.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	args := os.Args[1:]
	var err error
	switch name := filepath.Base(os.Args[0]); name {
	case "etcd":
		err = etcd(args)
	case "numactl":
		err = numactl(args)
	case "trtllm-llmapi-launch":
		err = launch(args)
	case "python3":
		err = python(args)
	default:
		err = fmt.Errorf("unknown stand-in %s", name)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "stand-in:", err)
		os.Exit(2)
	}
}

// execProgram replaces this process by another program.
func execProgram(argv []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, argv, os.Environ())
}

// exitOnTerm waits for SIGTERM and exits with code 0.
func exitOnTerm() {
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	<-term
	fmt.Println("stand-in: exit on SIGTERM")
	os.Exit(0)
}

// writeReceived writes the arguments and the environment to a file for the test.
func writeReceived(step string) error {
	doc, err := json.MarshalIndent(map[string]any{
		"argv": append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...),
		"env":  os.Environ(),
	}, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll("/logs/received", 0o755); err != nil {
		return err
	}
	return os.WriteFile("/logs/received/"+step+".json", doc, 0o644)
}

// faultOf returns the fault of a stand-in in STANDIN_FAULT.
func faultOf(name string) string {
	for f := range strings.SplitSeq(os.Getenv("STANDIN_FAULT"), ",") {
		if n, fault, _ := strings.Cut(f, ":"); n == name {
			return fault
		}
	}
	return ""
}

// markFault records that a fault takes effect now. Tests measure the time from then on.
func markFault() {
	if err := os.WriteFile("/logs/received/fault", nil, 0o644); err != nil {
		fmt.Println("stand-in: mark the fault:", err)
	}
}

// flags parses --name value and --name=value.
func flags(args []string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !joined && i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
			i++
			value = args[i]
		}
		out[strings.TrimPrefix(name, "--")] = value
	}
	return out
}

func checkFlag(f map[string]string, name, value string) error {
	if f[name] != value {
		return fmt.Errorf("--%s is %q, want %q", name, f[name], value)
	}
	return nil
}

func numactl(args []string) error {
	if len(args) < 3 || args[0] != "-m" || args[1] != "0,1" {
		return fmt.Errorf("numactl %v: want -m 0,1 COMMAND", args)
	}
	return execProgram(args[2:])
}

// launch starts a rank: rank 0 executes the engine, the others wait.
func launch(args []string) error {
	if len(args) == 0 || os.Getenv("SLURM_PROCID") == "" {
		return errors.New("trtllm-llmapi-launch: want a command and SLURM_PROCID")
	}
	if err := writeReceived(os.Getenv("SLURM_JOB_NAME") + ".rank" + os.Getenv("SLURM_PROCID")); err != nil {
		return err
	}
	if os.Getenv("SLURM_PROCID") == "0" {
		return execProgram(args)
	}
	exitOnTerm()
	return nil
}

// instance is one registered worker.
type instance struct {
	Component string
	URL       string
	Seen      time.Time `json:"-"`
}

// lease is how long a worker stays registered after its last request.
const lease = 3 * time.Second

// etcd serves a registry with leases over HTTP: PUT and GET /instances.
func etcd(args []string) error {
	f := flags(args)
	if !strings.HasPrefix(f["data-dir"], "/tmp/etcd-") || strings.Contains(f["advertise-client-urls"], "127.0.0.1") {
		return fmt.Errorf("etcd %v: want a data directory of the job and an address that other nodes reach", args)
	}
	if err := writeReceived("etcd"); err != nil {
		return err
	}
	registry := make(chan map[string]instance, 1)
	registry <- map[string]instance{}
	http.HandleFunc("PUT /instances", func(w http.ResponseWriter, r *http.Request) {
		var in instance
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		in.Seen = time.Now()
		all := <-registry
		all[in.URL] = in
		registry <- all
	})
	http.HandleFunc("GET /instances", func(w http.ResponseWriter, _ *http.Request) {
		all := <-registry
		list := []instance{}
		for _, in := range all {
			if time.Since(in.Seen) < lease {
				list = append(list, in)
			}
		}
		registry <- all
		_ = json.NewEncoder(w).Encode(list)
	})
	go exitOnTerm()
	return http.ListenAndServe(strings.TrimPrefix(f["listen-client-urls"], "http://"), nil)
}

func ignoreTerm() { signal.Ignore(syscall.SIGTERM) }
