package models

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Options are what a Puller works with.
type Options struct {
	Store  Store
	Env    Env
	Report Reporter
	// Agent is the User-Agent header.
	Agent string
	// Stall is how long a server may send nothing; default a minute.
	Stall time.Duration
	// Wait waits between attempts, Free says how many bytes a disk has left,
	// Now is the clock; nil for the real ones.
	Wait func(context.Context, time.Duration) error
	Free func(dir string) (int64, error)
	Now  func() time.Time
}

// Request says what to pull.
type Request struct {
	// Ref is a known name, owner/name of the hub, or a URL.
	Ref string
	// Revision is a branch, tag or commit of the hub; File the path of the ONNX
	// file at the source; SHA256 what that file (or the archive) hashes to; As
	// the model's name in the store. Each may be empty.
	Revision, File, SHA256, As string
	// Replace takes the place of what has that name.
	Replace bool
}

// Puller fetches models into a store.
type Puller struct {
	opts   Options
	known  []Known
	client *client
	retry  *retrier
	down   *downloader
	hub    *hub
}

// NewPuller makes a Puller.
func NewPuller(opts Options) (*Puller, error) {
	if opts.Stall <= 0 {
		opts.Stall = time.Minute
	}
	if opts.Wait == nil {
		opts.Wait = sleep
	}
	if opts.Free == nil {
		opts.Free = freeBytes
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	known, err := KnownModels()
	if err != nil {
		return nil, err
	}
	p := &Puller{opts: opts, known: known, client: newClient(opts.Env, opts.Agent, opts.Stall)}
	p.retry = &retrier{client: p.client, wait: opts.Wait, note: opts.Report.Note}
	p.down = &downloader{client: p.client, retry: p.retry, report: opts.Report, free: opts.Free}
	p.hub = &hub{client: p.client, retry: p.retry, at: opts.Env.Endpoint}
	return p, nil
}

// Pull fetches a model, unless the store has it, and returns its lock file.
// What was fetched before an error stays, and the next pull goes on from there.
func (p *Puller) Pull(ctx context.Context, r Request) (*Lock, error) {
	s, err := p.source(&r)
	if err != nil {
		return nil, err
	}
	lock, err := p.pull(ctx, s, r)
	if err != nil {
		return nil, fmt.Errorf("pulling %s: %w", s.name, p.explain(s, err))
	}
	return lock, nil
}

// source reads the request and checks it.
func (p *Puller) source(r *Request) (source, error) {
	s, err := parseRef(r.Ref, p.known, p.opts.Env.Endpoint)
	if err != nil {
		return source{}, err
	}
	if s.kind == fromBuild {
		return source{}, fmt.Errorf("%s is built by `make setup`, not pulled; it is found beside the program", s.name)
	}
	if r.As != "" {
		s.name = r.As
	}
	if s.name == "" {
		return source{}, errors.New("the URL gives the model no name: give one with --as NAME")
	}
	if err := checkName(s.name); err != nil {
		return source{}, err
	}
	if k, ok := find(p.known, byName(s.name)); ok && (k.Repo == "" || k.Repo != s.repo) {
		return source{}, fmt.Errorf("the name %s belongs to another model of the table: give one with --as NAME", s.name)
	}
	if r.SHA256 = strings.ToLower(r.SHA256); r.SHA256 != "" && !sha256Pattern.MatchString(r.SHA256) {
		return source{}, fmt.Errorf("--sha256 %q is no SHA-256: 64 hexadecimal digits", r.SHA256)
	}
	if r.Revision != "" && s.kind != fromHub {
		return source{}, errors.New("--revision is for models of a hub")
	}
	if r.Revision != "" {
		s.revision = r.Revision
	}
	if s.revision == "" {
		s.revision = "main"
	}
	if r.File != "" {
		r.File = path.Clean(r.File)
		if !filepath.IsLocal(r.File) || !strings.HasSuffix(r.File, ".onnx") {
			return source{}, fmt.Errorf("--file %q must be the path of an .onnx file at the source, such as onnx/model_fp16.onnx", r.File)
		}
	}
	return s, nil
}

func (p *Puller) pull(ctx context.Context, s source, r Request) (*Lock, error) {
	unlock, err := p.opts.Store.lock(ctx, s.name, p.opts.Report.Note)
	if err != nil {
		return nil, err
	}
	defer unlock()
	dir := p.opts.Store.Path(s.name)
	if err := restore(dir); err != nil {
		return nil, err
	}
	have, err := p.standing(dir, r)
	if err != nil {
		return nil, err
	}
	if have != nil {
		done, err := p.suffices(have, &s, &r, dir)
		if done || err != nil {
			return have, err
		}
	}
	if p.opts.Env.Offline {
		return nil, fmt.Errorf("HF_HUB_OFFLINE is set, so nothing is fetched: unset it, or copy the model's folder from a machine that has it to %s", dir)
	}
	staging := dir + stagingSuffix
	if err := os.MkdirAll(staging, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder to pull into: %w", err)
	}
	lock, err := p.gather(ctx, s, r, have, staging)
	if err != nil {
		_ = os.Remove(staging) // stays if it holds something to go on from
		return nil, err
	}
	if err := p.install(lock, have, staging, dir); err != nil {
		return nil, fmt.Errorf("moving what was fetched to %s: %w", dir, err)
	}
	return lock, nil
}

// standing is the lock file of what has the name already; nil if nothing has,
// or if it is to be replaced.
func (p *Puller) standing(dir string, r Request) (*Lock, error) {
	if r.Replace {
		return nil, nil
	}
	have, err := hasLock(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(dir); err == nil && have == nil {
		return nil, fmt.Errorf("%s is there and was not pulled: give another name with --as, or --replace it", dir)
	}
	return have, nil
}

// suffices says whether what is there is what was asked for. If not, it makes
// the request one for what is missing of the same commit.
func (p *Puller) suffices(have *Lock, s *source, r *Request, dir string) (bool, error) {
	other := func(what, is string) error {
		return fmt.Errorf("%s holds %s %s: give another name with --as, or --replace it", dir, what, is)
	}
	if have.Source != s.String() {
		return false, other("a model of", have.Source)
	}
	if r.Revision != "" && r.Revision != have.Revision && r.Revision != have.Commit {
		return false, other("revision", have.Commit)
	}
	if have.Commit != "" {
		s.revision = have.Commit
	}
	model, ok := have.file(have.Model)
	if r.File != "" {
		model, ok = LockedFile{}, false
		for _, f := range have.Files {
			if f.From == r.File {
				model, ok = f, true
			}
		}
	} else {
		r.File = model.From
	}
	if !ok {
		return false, nil
	}
	for _, f := range have.Files {
		if info, err := os.Stat(filepath.Join(dir, f.Name)); err != nil || info.Size() != f.Size {
			p.opts.Report.Note(f.Name + " is not as it was pulled; fetching it again")
			return false, nil
		}
	}
	what, is := filepath.Join(dir, model.Name), model.SHA256
	if s.kind == fromArchive {
		what, is = "the archive that "+dir+" came from", have.Archive
	}
	if r.SHA256 != "" && r.SHA256 != is {
		return false, fmt.Errorf("%s has sha256 %s, --sha256 says %s: %w", what, is, r.SHA256, ErrMismatch)
	}
	p.opts.Report.Note(fmt.Sprintf("%s is there already", dir))
	if have.Model != model.Name {
		have.Model = model.Name
		return true, have.write(dir)
	}
	return true, nil
}

// gather fetches all files into the staging folder and says what they are.
func (p *Puller) gather(ctx context.Context, s source, r Request, have *Lock, staging string) (*Lock, error) {
	lock := &Lock{Format: lockFormat, Name: s.name, Source: s.String(), Licence: s.known.Licence}
	var wants []want
	var model remote
	var err error
	switch s.kind {
	case fromHub:
		wants, model, err = p.fromHub(ctx, s, r, lock)
	case fromFolder:
		wants, model, err = p.fromFolder(ctx, s, r)
	case fromArchive:
		return lock, p.fromArchive(ctx, s, r, lock, staging)
	default:
		return nil, fmt.Errorf("a source of kind %d can't be pulled", s.kind)
	}
	if err != nil {
		return nil, err
	}
	lock.Model = path.Base(model.Path)
	dir := p.opts.Store.Path(s.name)
	var need int64
	for _, w := range wants {
		need += max(0, w.Size)
	}
	here, err := folderBytes(staging)
	if err != nil {
		return nil, err
	}
	if err := p.down.room(staging, need-here); err != nil {
		return nil, err
	}
	for _, w := range wants {
		if have != nil {
			if f, ok := have.file(w.name); ok && f.From == w.Path && isWhole(filepath.Join(dir, w.name), f) {
				lock.Files = append(lock.Files, f)
				continue
			}
		}
		f, err := p.down.fetch(ctx, w, staging)
		if err != nil {
			return nil, err
		}
		lock.Files = append(lock.Files, f)
	}
	return lock, nil
}

// isWhole says whether a file is the locked one.
func isWhole(path string, f LockedFile) bool {
	got, err := hashFile(path)
	return err == nil && got.size == f.Size && got.sha256 == f.SHA256
}
