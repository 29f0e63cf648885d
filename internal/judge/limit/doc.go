// Package limit bounds what all processes of a deployment together send to one
// endpoint: calls at once, requests a second, tokens a minute.
//
// The processes share one small document in a NATS key-value bucket. A process
// holds a lease in it: so many slots, until then. It takes, returns and renews
// slots by compare-and-set, so that the sum never passes the limit, and makes
// calls out of its slots without asking anyone. A process that is killed stops
// renewing, and its slots go to the others when its lease ends; one that is cut
// off from the bucket stops by itself before that.
//
// Calls at once are also adapted: a 429 lowers the shared limit, success under
// pressure raises it, and a limit that has met a 429 is tried again more and
// more rarely.
//
// What a process may take is decided by State.Next, a pure function of the
// document, the time and what the process reports. The package knows a bucket,
// not streams, and nothing of what is asked.
package limit
