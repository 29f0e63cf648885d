package nlibench

// Report is what Run measures. A figure that was not measured is null, and its
// reason stands in Missing.
type Report struct {
	// The ratios are ours through the peer's pairs a CPU-second: the median of
	// the rounds.
	RatioBareORT      *float64 `json:"ratio_bare_ort"`
	RatioCrossEncoder *float64 `json:"ratio_crossencoder"`
	RatioPythonOnline *float64 `json:"ratio_python_online"`
	RatioInfinity     *float64 `json:"ratio_infinity"`
	// PaddingShare is the part of the tokens that we computed that was padding.
	PaddingShare *float64 `json:"padding_share"`
	// P50MS and P99MS are our latencies of a request at half of our saturated
	// rate, Poisson arrivals.
	P50MS *float64 `json:"p50_ms"`
	P99MS *float64 `json:"p99_ms"`

	Peers   map[string]*Peer  `json:"peers"`
	Missing map[string]string `json:"missing,omitempty"`

	Load    Shape         `json:"load"`
	Repeats []RepeatsSide `json:"repeats"`
	// Setting is what all peers had alike.
	Setting Setting `json:"setting"`
}

// Peer is what one peer did.
type Peer struct {
	What string `json:"what"`
	// Medians of the rounds, saturated.
	PairsPerCPUSecond float64 `json:"pairs_per_cpu_second"`
	PairsPerSecond    float64 `json:"pairs_per_second"`
	// Ratio and WallRatio are ours through the peer's, the median of the
	// rounds, over CPU and wall seconds.
	Ratio        float64  `json:"ratio"`
	WallRatio    float64  `json:"wall_ratio"`
	PaddingShare *float64 `json:"padding_share"`
	PairsPerRun  float64  `json:"pairs_per_batch,omitempty"`
	// MaxDifference is the largest difference of a logit (ours: of a
	// probability) from the pair run alone.
	MaxDifference float64 `json:"max_difference"`
	// At half of our saturated rate; null where a peer takes no arrivals.
	P50MS *float64 `json:"p50_ms"`
	P99MS *float64 `json:"p99_ms"`
	// Versions are of the libraries; "batches" says how it was set.
	Versions map[string]string `json:"version"`

	cpu, wall []float64 // pairs a second, a round
}

// Shape says what the pairs are like.
type Shape struct {
	Requests int     `json:"requests"`
	Pairs    int     `json:"pairs"`
	Clients  int     `json:"clients"`
	Tokens   [4]int  `json:"tokens_p5_p50_p95_max"`
	Mean     float64 `json:"tokens_mean"`
}

// RepeatsSide is what the cache and the joining of equal pairs win on rollouts
// of the same questions.
type RepeatsSide struct {
	Name     string `json:"name"`
	Groups   int    `json:"groups"`
	Rollouts int    `json:"rollouts"`
	// Asked pairs, and those of them that the model ran with the cache on.
	Asked    int `json:"pairs_asked"`
	Computed int `json:"pairs_computed"`
	// Pairs answered a CPU-second, with and without.
	With    float64 `json:"pairs_per_cpu_second_with"`
	Without float64 `json:"pairs_per_cpu_second_without"`
}

// Setting is the same for every peer.
type Setting struct {
	Model     string  `json:"model"`
	ModelHash string  `json:"model_hash"`
	Processor string  `json:"processor"`
	Threads   int     `json:"threads"`
	Rounds    int     `json:"rounds"`
	HalfRate  float64 `json:"half_load_requests_per_second"`
}
