// Package nlibench measures the NLI worker beside others: bare ONNX Runtime,
// Python workers, sentence-transformers' CrossEncoder and Infinity, each in a
// process of its own on the same core, with the same model file and the same
// pairs. The pairs are those that stages D and E ask about a data set's
// rollouts.
package nlibench
