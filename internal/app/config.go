package app

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"

	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Config is every setting of a process. A setting named llm_url is the flag
// --llm-url, the environment variable STEPGAP_LLM_URL and the key llm_url of
// the YAML file; a flag beats the environment, which beats the file.
//
// The tag "on" lists the commands that take the setting as a flag: serve,
// check, bench, client (publish and watch), models (verify). The tag "bare" is
// the value of a flag that is given without one.
type Config struct {
	NATS      string `koanf:"nats" on:"serve client" help:"URL of the NATS server; empty starts one inside the process (serve without roles)"`
	NATSCreds string `koanf:"nats_creds" on:"serve client" help:"path of a NATS .creds file"`
	NATSNKey  string `koanf:"nats_nkey" on:"serve client" help:"path of an NKey seed file"`
	NATSCA    string `koanf:"nats_ca" on:"serve client" help:"path of a CA certificate for TLS to NATS"`

	Listen     string        `koanf:"listen" default:"127.0.0.1:4222" on:"serve" help:"address of the embedded NATS server"`
	Store      string        `koanf:"store" on:"serve check" help:"folder of the embedded NATS server's streams; empty takes a temporary one"`
	SyncAlways bool          `koanf:"sync_always" on:"serve" help:"the embedded NATS server writes to disk before it acknowledges"`
	Replicas   int           `koanf:"replicas" default:"1" on:"serve" help:"replicas of every stream"`
	AckWait    time.Duration `koanf:"ack_wait" default:"30s" on:"serve" help:"how long a worker may hold a message without a sign of life"`
	LabelsAge  time.Duration `koanf:"labels_age" default:"168h" on:"serve" help:"how long labels and rewards are kept; about 190 bytes of server memory a label"`
	WorkBytes  int64         `koanf:"work_bytes" default:"1073741824" on:"serve" help:"bytes that each work queue may hold before it pushes back"`
	LabelBytes int64         `koanf:"label_bytes" default:"4294967296" on:"serve" help:"bytes of labels, of rewards and of dead letters"`
	Topology   string        `koanf:"topology" default:"ensure" on:"serve" help:"ensure: create and update streams and consumers; check: refuse to start if they differ; skip"`

	Judge        string `koanf:"judge" default:"auto" on:"serve check" help:"judge of A, B and C: local, llm, flag-all, flag-none; auto is llm if llm_url is given, else local. Or of the whole tree: nli-only, llm-only, rules-only, single-llm, student (docs/judges.md)"`
	JudgeEntity  string `koanf:"judge_entity" on:"serve check" help:"judge of A, if it differs; off removes the stage and keeps its routing"`
	JudgeAbstain string `koanf:"judge_abstain" on:"serve check" help:"judge of B, if it differs; or off"`
	JudgeQuote   string `koanf:"judge_quote" on:"serve check" help:"judge of C, if it differs; or off"`

	JudgeNLI     string `koanf:"judge_nli" on:"serve check" help:"judge of D and E: nli, local (rules), llm, student, off, or free, which costs nothing and says none (for measuring the pipeline); empty is what judge says of them, else nli"`
	JudgeLocal   string `koanf:"judge_local" on:"serve check" help:"judge of D, if it differs from judge_nli"`
	JudgeCross   string `koanf:"judge_cross" on:"serve check" help:"judge of E, if it differs from judge_nli"`
	StudentModel string `koanf:"student_model" on:"serve check" help:"folder of the judge student's model, in Hugging Face layout: a classifier of pairs with the four labels"`

	LLMURL         string        `koanf:"llm_url" on:"serve check" help:"base URL of an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1; several of one model, comma separated, share the calls"`
	LLMModel       string        `koanf:"llm_model" on:"serve check" help:"model name to ask for"`
	LLMKeyFile     string        `koanf:"llm_key_file" on:"serve check" help:"file that holds the endpoint's key; or set STEPGAP_LLM_KEY"`
	LLMCallTimeout time.Duration `koanf:"llm_call_timeout" default:"30s" on:"serve check" help:"time for one HTTP attempt"`
	LLMAttempts    int           `koanf:"llm_attempts" default:"4" on:"serve check" help:"HTTP attempts of one call"`
	LLMFormat      string        `koanf:"llm_format" default:"schema" on:"serve check" help:"how JSON is asked for: schema, object or none"`
	LLMLogProbs    int           `koanf:"llm_logprobs" default:"0" on:"serve check" help:"alternatives a token to ask for, for the confidence; 0 for none"`
	LLMReasoning   int           `koanf:"llm_reasoning_tokens" default:"0" on:"serve check" help:"tokens that a reasoning model may think; 0 for a model that does not"`
	LLMConcurrency int           `koanf:"llm_concurrency" default:"0" on:"serve check" help:"calls at once to each endpoint, of all processes together; 0 finds out what the endpoint allows"`
	LLMRPS         float64       `koanf:"llm_rps" default:"0" on:"serve check" help:"requests a second to each endpoint, of all processes together; 0 for no bound"`
	LLMTPM         int           `koanf:"llm_tpm" default:"0" on:"serve check" help:"tokens a minute, input and output, of all processes together at each endpoint; 0 for no bound"`
	LLMHedge       time.Duration `koanf:"llm_hedge" default:"0s" on:"serve check" help:"how long after a call a second one is sent beside it, the first answer counting; 0 for never"`
	LLMBreaker     int           `koanf:"llm_breaker" default:"8" on:"serve check" help:"failures in a row after which an endpoint counts as down: stages stop pulling until a probe is answered; 0 for never"`
	PromptDir      string        `koanf:"prompt_dir" on:"serve check" help:"folder of prompts that replace the built-in ones"`
	Secret         string        `koanf:"secret" help:"secret of the deployment that data fences are derived from; the same for all processes (environment or file only)"`

	CacheTTL     time.Duration `koanf:"cache_ttl" default:"168h" on:"serve check" help:"how long verdicts of an LLM are kept and shared, so that the same question is not paid for twice; 0 keeps none"`
	CacheEntries int           `koanf:"cache_entries" default:"65536" on:"serve check" help:"verdicts that a process keeps at hand, about 0.5 KB each"`
	Record       string        `koanf:"record" on:"serve check" help:"file to write every verdict of an LLM to, for --replay"`
	Replay       string        `koanf:"replay" on:"serve check" help:"file of recorded verdicts to judge by, without any endpoint; a question that it lacks fails"`
	PriceIn      float64       `koanf:"price_in" default:"0" on:"serve check client" help:"price of a million input tokens, in your currency"`
	PriceOut     float64       `koanf:"price_out" default:"0" on:"serve check client" help:"price of a million output tokens"`
	PriceCached  float64       `koanf:"price_cached" default:"-1" on:"serve check client" help:"price of a million input tokens that the endpoint had cached; below 0 for that of the others"`
	Prices       string        `koanf:"prices" on:"serve check client" help:"YAML file of prices by model: a map from names to in, out and cached; goes before the single prices"`
	SpendCap     float64       `koanf:"spend_cap" default:"0" on:"serve check" help:"what all processes of the account may spend on LLMs; beyond it they stop pulling until it is raised; 0 leaves the cap as it stands"`
	SpendAccount string        `koanf:"spend_account" default:"default" on:"serve check client" help:"account that spending is counted under; processes with the same one share its cap"`

	NLIModel         string  `koanf:"nli_model" on:"serve check" help:"the NLI model: a folder in Hugging Face layout, or a name that stepgap models list shows; empty looks beside the program"`
	NLIFile          string  `koanf:"nli_file" on:"serve check" help:"ONNX file in that folder; empty takes model.onnx, onnx/model.onnx or the only one"`
	Models           string  `koanf:"models" on:"serve check models" help:"folder that stepgap models pull keeps models in; empty takes stepgap/models in the user's cache folder"`
	ORTLib           string  `koanf:"ort_lib" on:"serve check models" help:"path of libonnxruntime.so; empty looks beside the program"`
	Device           string  `koanf:"device" default:"auto" on:"serve check" help:"auto, cpu, cuda or cuda:N"`
	NLILanes         int     `koanf:"nli_lanes" default:"0" on:"serve check" help:"batches that run at once; 0 for as many as the cores that the container may use give with nli_threads each, or two on a GPU"`
	NLIThreads       int     `koanf:"nli_threads" default:"0" on:"serve check" help:"threads of one batch on CPU; 0 for one, or with nli_lanes given its share of the cores"`
	Deterministic    string  `koanf:"deterministic" default:"auto" bare:"on" on:"serve check" help:"whether a pair's scores may depend on what shares its batch: auto runs the pairs of quantised models one at a time, on (or the bare flag) those of any model that would change by a bit, and refuses one that it can't hold still, off batches all"`
	NLIPriority      int     `koanf:"nli_priority" default:"-1" on:"serve" help:"rank among the workers of D and E, 0 to 9: a lower one is served first, the others take what it has no free worker for; -1 for 0 on a GPU and 5 on CPU"`
	NLIContradiction float64 `koanf:"nli_contradiction" default:"0" on:"serve check" help:"threshold of contradiction; 0 for that of thresholds.json beside the model, else 0.5"`
	NLIEntailment    float64 `koanf:"nli_entailment" default:"0" on:"serve check" help:"threshold of entailment; 0 for that of thresholds.json beside the model, else 0.5"`
	NLIEpsilon       float64 `koanf:"nli_epsilon" default:"0" on:"serve check" help:"labels with a score so near to its threshold are flagged near_threshold; 0 for 0.02, and 0.05 with a quantised model"`

	Profile string `koanf:"profile" default:"stepgap" on:"serve check" help:"reward profile: stepgap, paper, or the path of a YAML file"`

	Workers      int           `koanf:"workers" default:"32" on:"serve check" help:"messages that each stage handles at once"`
	Budget       time.Duration `koanf:"budget" default:"60s" on:"serve check" help:"time that one stage may take to judge one step"`
	Deadline     time.Duration `koanf:"deadline" default:"30m" on:"serve" help:"step deadline where the publisher gave none"`
	GiveUpAfter  time.Duration `koanf:"give_up_after" default:"15m" on:"serve check" help:"how long a step without a deadline is tried again while its judge fails; 0 for ever"`
	LiveDeadline time.Duration `koanf:"live_deadline" default:"10s" on:"serve" help:"deadline of a live check where the asker gave none"`
	EndDeadline  time.Duration `koanf:"end_deadline" default:"30m" on:"serve" help:"how long after its end a rollout's labels are waited for"`
	DrainTimeout time.Duration `koanf:"drain_timeout" default:"20s" on:"serve" help:"time for handlers to end on SIGTERM"`

	GatewayListen string        `koanf:"gateway_listen" on:"serve" help:"address of the HTTP gateway; empty for none, and for the role gateway 127.0.0.1:8088"`
	GatewayTokens string        `koanf:"gateway_tokens" on:"serve" help:"YAML file of tokens that may call the gateway, each with its runs; needed on addresses that other machines reach"`
	GatewayToken  string        `koanf:"gateway_token" help:"one token that may use every run (environment or file only)"`
	GatewayOpen   bool          `koanf:"gateway_open" on:"serve" help:"let everyone who reaches the gateway's address call it without a token"`
	GatewayBody   int64         `koanf:"gateway_body_bytes" default:"16777216" on:"serve" help:"most bytes of a request's body"`
	GatewayPosts  int           `koanf:"gateway_posts" default:"32" on:"serve" help:"requests with a body that are read at once; each may take gateway_body_bytes of memory"`
	GatewayWaits  int           `koanf:"gateway_waits" default:"2048" on:"serve" help:"requests that wait for rewards at once"`
	GatewayBatch  int           `koanf:"gateway_batch" default:"256" on:"serve" help:"most rollouts of a request"`
	GatewayWait   time.Duration `koanf:"gateway_wait" default:"150s" on:"serve" help:"longest wait of a request; OpenRLHF gives up after 180s"`
	GatewayRate   float64       `koanf:"gateway_rate" default:"0" on:"serve" help:"rollouts and readings a second of each token, or of each address without tokens; 0 for no bound"`

	HTTP      string `koanf:"http" on:"serve" help:"address of /metrics, /healthz and /readyz; empty for none"`
	LogLevel  string `koanf:"log_level" default:"info" on:"serve check client bench" help:"debug, info, warn or error"`
	LogFormat string `koanf:"log_format" default:"text" on:"serve check client bench" help:"text or json"`
}

// EnvPrefix starts the name of every environment variable.
const EnvPrefix = "STEPGAP_"

// KeyVariable holds the LLM endpoint's key; there is no flag for it, since
// flags are seen by every user of a machine.
const KeyVariable = EnvPrefix + "LLM_KEY"

// Setting describes one field of Config.
type Setting struct {
	Key, Flag, Env, Default, Help string
	Commands                      []string
}

// Settings lists every setting in the order of Config.
func Settings() []Setting {
	var all []Setting
	for f := range fields() {
		key := f.Tag.Get("koanf")
		s := Setting{
			Key: key, Env: EnvPrefix + strings.ToUpper(key),
			Default: f.Tag.Get("default"), Help: f.Tag.Get("help"), Commands: strings.Fields(f.Tag.Get("on")),
		}
		if len(s.Commands) > 0 {
			s.Flag = "--" + strings.ReplaceAll(key, "_", "-")
		}
		all = append(all, s)
	}
	return all
}

func fields() func(yield func(reflect.StructField) bool) {
	t := reflect.TypeFor[Config]()
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

// AddFlags adds the flags that command takes.
func AddFlags(flags *pflag.FlagSet, command string) {
	flags.String("config", "", "path of a YAML file of settings")
	for f := range fields() {
		if !strings.Contains(" "+f.Tag.Get("on")+" ", " "+command+" ") {
			continue
		}
		name := strings.ReplaceAll(f.Tag.Get("koanf"), "_", "-")
		value, help := f.Tag.Get("default"), f.Tag.Get("help")
		if value == "" {
			value = zero(f.Type)
		}
		switch f.Type {
		case reflect.TypeFor[time.Duration]():
			d, _ := time.ParseDuration(value) // the tags are held to their types by a test
			flags.Duration(name, d, help)
		case reflect.TypeFor[string]():
			flags.String(name, value, help)
			flags.Lookup(name).NoOptDefVal = f.Tag.Get("bare")
		case reflect.TypeFor[bool]():
			flags.Bool(name, value == "true", help)
		case reflect.TypeFor[int](), reflect.TypeFor[int64]():
			var n int64
			_, _ = fmt.Sscan(value, &n)
			flags.Int64(name, n, help)
		case reflect.TypeFor[float64]():
			var x float64
			_, _ = fmt.Sscan(value, &x)
			flags.Float64(name, x, help)
		}
	}
}

func zero(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return ""
	case reflect.Bool:
		return "false"
	default:
		return "0"
	}
}

// LoadConfig reads settings from flags, then environment, then the YAML file
// that --config or STEPGAP_CONFIG names, then defaults. An unknown key in the
// file is an error, since a misspelt threshold must not pass unnoticed.
func LoadConfig(flags *pflag.FlagSet, environ func() []string) (Config, error) {
	known := map[string]bool{}
	k := koanf.New(".")
	for f := range fields() {
		key := f.Tag.Get("koanf")
		known[key] = true
		if value := f.Tag.Get("default"); value != "" {
			if err := k.Set(key, value); err != nil {
				return Config{}, fmt.Errorf("default of %s: %w", key, err)
			}
		}
	}
	path, err := configPath(flags, environ)
	if err != nil {
		return Config{}, err
	}
	if path != "" {
		if err := loadFile(k, path, known); err != nil {
			return Config{}, err
		}
	}
	err = k.Load(env.Provider(".", env.Opt{
		Prefix:      EnvPrefix,
		EnvironFunc: environ,
		TransformFunc: func(name, value string) (string, any) {
			key := strings.ToLower(strings.TrimPrefix(name, EnvPrefix))
			if !known[key] {
				return "", nil // such as STEPGAP_LLM_KEY, STEPGAP_DATA
			}
			return key, value
		},
	}), nil)
	if err != nil {
		return Config{}, fmt.Errorf("reading the environment: %w", err)
	}
	if flags != nil {
		err = k.Load(posflag.ProviderWithFlag(flags, ".", k, func(f *pflag.Flag) (string, any) {
			key := strings.ReplaceAll(f.Name, "-", "_")
			if !f.Changed || !known[key] {
				return "", nil
			}
			return key, posflag.FlagVal(flags, f)
		}), nil)
		if err != nil {
			return Config{}, fmt.Errorf("reading the flags: %w", err)
		}
	}
	var c Config
	if err := k.Unmarshal("", &c); err != nil {
		return Config{}, fmt.Errorf("reading the settings: %w", err)
	}
	return c, c.validate()
}

func configPath(flags *pflag.FlagSet, environ func() []string) (string, error) {
	if flags != nil {
		if f := flags.Lookup("config"); f != nil && f.Changed {
			return f.Value.String(), nil
		}
	}
	for _, e := range environ() {
		if path, ok := strings.CutPrefix(e, EnvPrefix+"CONFIG="); ok {
			return path, nil
		}
	}
	return "", nil
}

func loadFile(k *koanf.Koanf, path string, known map[string]bool) error {
	inFile := koanf.New(".")
	if err := inFile.Load(file.Provider(path), yaml.Parser()); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("settings file %s does not exist", path)
		}
		return fmt.Errorf("settings file %s: %w", path, err)
	}
	for _, key := range inFile.Keys() {
		if !known[key] {
			return fmt.Errorf("settings file %s: unknown key %q; see docs/configuration.md", path, key)
		}
	}
	return k.Merge(inFile)
}

func (c *Config) validate() error {
	oneOf := func(key, value string, allowed ...string) error {
		for _, a := range allowed {
			if value == a {
				return nil
			}
		}
		return fmt.Errorf("setting %s is %q; use one of %s", key, value, strings.Join(allowed, ", "))
	}
	positive := func(key string, value int64) error {
		if value > 0 {
			return nil
		}
		return fmt.Errorf("setting %s is %d; it must be above 0", key, value)
	}
	notNegative := func(key string, value float64) error {
		if value >= 0 && !math.IsInf(value, 0) {
			return nil
		}
		return fmt.Errorf("setting %s is %v; it must be 0 or above", key, value)
	}
	judges := []string{"", "auto", "local", "llm", "flag-all", "flag-none", "free", "off"}
	last := []string{"", "nli", "local", "llm", "student", "off", "free"}
	return errors.Join(
		oneOf("judge", c.Judge, "auto", "local", "llm", "flag-all", "flag-none", "free", "nli-only", "llm-only", "rules-only", "single-llm", "student"),
		oneOf("judge_entity", c.JudgeEntity, judges...),
		oneOf("judge_abstain", c.JudgeAbstain, judges...),
		oneOf("judge_quote", c.JudgeQuote, judges...),
		oneOf("judge_nli", c.JudgeNLI, last...),
		oneOf("judge_local", c.JudgeLocal, last...),
		oneOf("judge_cross", c.JudgeCross, last...),
		oneOf("deterministic", c.Deterministic, "auto", "on", "off"),
		c.rank(),
		c.checkDevice(),
		notNegative("nli_lanes", float64(c.NLILanes)),
		notNegative("nli_threads", float64(c.NLIThreads)),
		oneOf("topology", c.Topology, "ensure", "check", "skip"),
		oneOf("log_level", c.LogLevel, "debug", "info", "warn", "error"),
		oneOf("log_format", c.LogFormat, "text", "json"),
		positive("workers", int64(c.Workers)),
		positive("replicas", int64(c.Replicas)),
		positive("ack_wait", int64(c.AckWait)),
		positive("budget", int64(c.Budget)),
		positive("labels_age", int64(c.LabelsAge)),
		notNegative("llm_concurrency", float64(c.LLMConcurrency)),
		notNegative("llm_rps", c.LLMRPS),
		notNegative("cache_ttl", float64(c.CacheTTL)),
		notNegative("price_in", c.PriceIn),
		notNegative("price_out", c.PriceOut),
		notNegative("spend_cap", c.SpendCap),
		positive("cache_entries", int64(c.CacheEntries)),
		c.exclusive(),
		notNegative("llm_tpm", float64(c.LLMTPM)),
		notNegative("give_up_after", float64(c.GiveUpAfter)),
		positive("gateway_body_bytes", c.GatewayBody),
		positive("gateway_posts", int64(c.GatewayPosts)),
		positive("gateway_waits", int64(c.GatewayWaits)),
		positive("gateway_batch", int64(c.GatewayBatch)),
		positive("gateway_wait", int64(c.GatewayWait)),
		notNegative("gateway_rate", c.GatewayRate),
	)
}

func (c *Config) checkDevice() error {
	if _, err := onnx.ParseDevice(c.Device); err != nil {
		return fmt.Errorf("setting device: %w", err)
	}
	return nil
}

func (c *Config) rank() error {
	if c.NLIPriority < -1 || c.NLIPriority > 9 {
		return fmt.Errorf("setting nli_priority is %d; use 0 to 9, or -1 to go by the device", c.NLIPriority)
	}
	return nil
}

// exclusive checks what one setting says of another, and names.
func (c *Config) exclusive() error {
	if err := schema.CheckID("spend_account", c.SpendAccount); err != nil {
		return fmt.Errorf("setting spend_account is %q; use letters, digits, - and _", c.SpendAccount)
	}
	if c.Record != "" && c.Replay != "" {
		return errors.New("settings record and replay: give one of them")
	}
	return nil
}
