package schema

// Limits bound what a message may hold. They are part of the wire: a publisher
// that stays within them is never refused for size.
const (
	MaxID            = 128       // characters of a run or rollout id
	MaxIndex         = 1000      // highest step index; a rollout's labels fit one multi-last request (1024)
	MaxMessage       = 4 << 20   // bytes of any message on the wire
	MaxQuestion      = 16 << 10  // bytes
	MaxText          = 256 << 10 // bytes of plan, text, claim
	MaxQuery         = 16 << 10  // bytes
	MaxAnswer        = 16 << 10  // bytes
	MaxTitle         = 4 << 10   // bytes
	MaxPassageText   = 2 << 20   // bytes
	MaxPassages      = 512
	MaxSpans         = 256
	MaxSteps         = MaxIndex
	MaxGold          = 256
	MaxQuotes        = 64
	MaxTrail         = 64
	MaxWindows       = 64 // of one trail entry
	MaxEntities      = 128
	MaxDeadBody      = 3 << 20   // bytes of a dead message's body that are kept, so that valid steps can be replayed
	MaxTranscript    = 3 << 20   // bytes of a transcript's text, messages or turns together
	MaxPrompt        = 256 << 10 // bytes
	MaxTurns         = 1000      // messages or turns of a transcript
	MaxCalls         = 64        // tool calls of one message
	MaxDepth         = 16        // nesting of a MessagePack body
	MaxElements      = 1024      // elements of one array, pairs of one map
	MaxNodes         = 200_000   // values in one body
	maxDetail        = 8 << 10
	maxDigestLength  = 128
	maxGroupID       = 512
	maxPassageDigest = maxDigestLength
)
