package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentperf/agentperf-tui/engine/mockserver"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

func python(args []string) error {
	if len(args) < 2 || args[0] != "-m" {
		return fmt.Errorf("python3 %v: want -m MODULE", args)
	}
	for _, name := range []string{"ETCD_ENDPOINTS", "NATS_SERVER", "HEAD_NODE_IP", "DYN_SKIP_SGLANG_LOG_FORMATTING"} {
		if os.Getenv(name) == "" {
			return fmt.Errorf("%s is not set", name)
		}
	}
	switch args[1] {
	case "dynamo.trtllm":
		return worker(flags(args[2:]))
	case "dynamo.frontend":
		return frontend(flags(args[2:]))
	}
	return fmt.Errorf("no module named %s", args[1])
}

// worker runs a mock server and registers it.
func worker(f map[string]string) error {
	role := f["disaggregation-mode"]
	config, err := os.ReadFile(f["extra-engine-args"])
	if err != nil || !bytes.Contains(config, []byte("tensor_parallel_size")) {
		return fmt.Errorf("engine config %s: %w, %d bytes", f["extra-engine-args"], err, len(config))
	}
	port, err := strconv.Atoi(os.Getenv("DYN_SYSTEM_PORT"))
	if err != nil {
		return fmt.Errorf("DYN_SYSTEM_PORT: %w", err)
	}
	if err := errors.Join(checkFlag(f, "extra-engine-args", "/logs/trtllm_config_"+role+".yaml"),
		checkFlag(f, "request-plane", "tcp")); err != nil {
		return err
	}
	if os.Getenv("TRTLLM_EPLB_SHM_NAME") == "" {
		return errors.New("TRTLLM_EPLB_SHM_NAME is not set")
	}
	who := role + "_" + strconv.Itoa(port-7500)
	if err := writeReceived(who); err != nil {
		return err
	}
	mode := schema.Prefill
	component := "prefill"
	if role == "decode" {
		mode, component = schema.Decode, "tensorrt_llm"
	}
	h, err := mockserver.New(mockserver.Config{
		Role: mode, Model: f["served-model-name"],
		Timing: mockserver.Timing{ITL: 2 * time.Millisecond, PrefillBase: 20 * time.Millisecond, StreamInterval: 4},
	})
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	fmt.Println("stand-in worker", who, "on", host)
	ignoresTerm := false
	switch faultOf(who) {
	case "never": // running, but never ready
		markFault()
		exitOnTerm()
	case "ignore-term":
		ignoresTerm = true
	case "exit1":
		time.AfterFunc(3*time.Second, func() { fmt.Println("CUDA error: an illegal memory access"); markFault(); os.Exit(1) })
	case "exit-late": // while the client measures
		time.AfterFunc(12*time.Second, func() { markFault(); os.Exit(1) })
	case "exit0":
		time.AfterFunc(3*time.Second, func() { markFault(); os.Exit(0) })
	case "fatal":
		time.AfterFunc(3*time.Second, func() { markFault(); fmt.Println("Rank1 Task exit code: 134") })
	}
	go register(instance{Component: component, URL: fmt.Sprintf("http://%s:%d", host, port)})
	if ignoresTerm {
		ignoreTerm()
	} else {
		go exitOnTerm()
	}
	return http.ListenAndServe(":"+strconv.Itoa(port), h)
}

func register(in instance) {
	body, _ := json.Marshal(in) // a struct of strings
	for {
		req, err := http.NewRequest(http.MethodPut, os.Getenv("ETCD_ENDPOINTS")+"/instances", bytes.NewReader(body))
		if err == nil {
			var resp *http.Response
			if resp, err = http.DefaultClient.Do(req); err == nil {
				err = resp.Body.Close()
			}
		}
		if err != nil {
			fmt.Println("stand-in: register:", err)
		}
		time.Sleep(lease / 3)
	}
}

// frontend routes requests to the workers that are registered at the moment.
func frontend(f map[string]string) error {
	if err := checkFlag(f, "http-port", "8000"); err != nil {
		return err
	}
	if err := writeReceived("frontend_0"); err != nil {
		return err
	}
	r := &router{}
	switch faultOf("frontend_0") {
	case "exit1": // 2 s after the first request
		r.loaded = func() { time.Sleep(2 * time.Second); markFault(); os.Exit(1) }
	case "unhealthy": // never reports its workers
		markFault()
		r.unhealthy = true
	}
	go exitOnTerm()
	return http.ListenAndServe(":8000", r)
}

type router struct {
	unhealthy bool
	loaded    func() // called at the first request of a client; may be nil
	once      sync.Once

	mu      sync.Mutex
	current []instance
	inner   http.Handler
}

// ServeHTTP routes to the workers that were registered at the last health check.
func (r *router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path != "/health" {
		if r.loaded != nil {
			r.once.Do(func() { go r.loaded() })
		}
		r.mu.Lock()
		inner := r.inner
		r.mu.Unlock()
		if inner == nil {
			http.Error(w, "no workers", http.StatusServiceUnavailable)
			return
		}
		inner.ServeHTTP(w, req)
		return
	}
	list, err := r.workers()
	if r.unhealthy {
		err = errors.New("the router has not started")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	out := []map[string]string{{"endpoint": "clear_kv_blocks", "component": "prefill"}}
	for _, in := range list {
		out = append(out, map[string]string{"endpoint": "generate", "component": in.Component})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "healthy", "instances": out})
}

func (r *router) workers() ([]instance, error) {
	resp, err := http.Get(os.Getenv("ETCD_ENDPOINTS") + "/instances")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var list []instance
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortFunc(list, func(a, b instance) int { return strings.Compare(a.URL, b.URL) })
	if slices.Equal(urls(list), urls(r.current)) {
		return list, nil
	}
	cfg := mockserver.Config{Role: schema.Frontend}
	for _, in := range list {
		if in.Component == "prefill" {
			cfg.PrefillURLs = append(cfg.PrefillURLs, in.URL)
		} else {
			cfg.DecodeURLs = append(cfg.DecodeURLs, in.URL)
		}
	}
	if h, err := mockserver.New(cfg); err == nil {
		r.inner = h
	}
	r.current = list
	return list, nil
}

func urls(list []instance) []string {
	out := make([]string, 0, len(list))
	for _, in := range list {
		out = append(out, in.URL)
	}
	return out
}
