// Package models fetches NLI models and keeps them: from a Hugging Face hub (or
// a mirror of it), from a folder behind a URL, or from an archive. What was
// pulled is written to a lock file that the folder is held to from then on.
//
// It knows files, hashes and HTTP. It must not know what a model computes:
// opening one is internal/nli/onnx's.
package models
