package models

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// ErrMismatch says that a file is not the one that it should be.
var ErrMismatch = errors.New("mismatch")

// ErrAbsent says that a model is not on this machine.
var ErrAbsent = errors.New("not on this machine")

var (
	errNoONNX = errors.New("there is no ONNX file")
	// errAgain marks a fault that the next attempt mends by itself.
	errAgain = errors.New("starting the file over")
)

// absentError says that a source lacks a file that every model needs.
type absentError struct{ file string }

func (e *absentError) Error() string { return "there is no " + e.file }

// explain turns what failed into what the user can do about it.
func (p *Puller) explain(s source, err error) error {
	var status *statusError
	var net *netError
	var absent *absentError
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: what was fetched stays, and the same command goes on from there", err)
	case errors.Is(err, errNoONNX) && s.kind == fromHub:
		return fmt.Errorf("%s has no ONNX file. Convert it (pip install \"optimum[onnxruntime]\"): "+
			"optimum-cli export onnx --model %s --task text-classification FOLDER; then name FOLDER with --nli-model", s, s.repo)
	case errors.As(err, &absent) && s.kind == fromHub:
		return fmt.Errorf("%s has no %s, which is needed. Export it whole (pip install \"optimum[onnxruntime]\"): "+
			"optimum-cli export onnx --model %s --task text-classification FOLDER; then name FOLDER with --nli-model", s, absent.file, s.repo)
	case errors.As(err, &net) && net.dial:
		return fmt.Errorf("%w. Without network, copy the model's folder from a machine that has it to %s, "+
			"or set HF_ENDPOINT to a mirror that can be reached", err, p.opts.Store.Path(s.name))
	case errors.As(err, &status) && s.kind == fromHub:
		return p.explainStatus(s, status, err)
	case errors.As(err, &status) && (status.code == http.StatusUnauthorized || status.code == http.StatusForbidden):
		return fmt.Errorf("%w: the server wants credentials or refuses them; give them as https://USER:PASSWORD@host/path", err)
	}
	return err
}

func (p *Puller) explainStatus(s source, status *statusError, err error) error {
	page := p.opts.Env.Endpoint.String() + "/" + s.repo
	switch {
	case status.reason == "GatedRepo" || (status.code == http.StatusForbidden && status.reason == ""):
		return fmt.Errorf("%w: %s is gated: accept its licence at %s, and set HF_TOKEN to a token of the account that did", err, s.repo, page)
	case status.code == http.StatusUnauthorized && p.opts.Env.Token == "":
		return fmt.Errorf("%w: the hub shows %s to nobody without a token: check the name, or accept the licence at %s and set HF_TOKEN", err, s.repo, page)
	case status.code == http.StatusUnauthorized || status.code == http.StatusForbidden:
		return fmt.Errorf("%w: the hub refuses the token (HF_TOKEN, HF_TOKEN_PATH or its token file) for %s: check it, and that its account accepted the licence at %s", err, s.repo, page)
	case status.reason == "RevisionNotFound":
		return fmt.Errorf("%w: %s has no revision %q", err, s.repo, s.revision)
	case status.code == http.StatusNotFound:
		return fmt.Errorf("%w: check the name and the revision of %s at %s", err, s.repo, p.opts.Env.Endpoint)
	}
	return err
}
