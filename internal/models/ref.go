package models

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// kind says where a model comes from.
type kind int

const (
	fromHub kind = iota + 1
	fromFolder
	fromArchive
	fromBuild
)

// source is where a model comes from.
type source struct {
	kind     kind
	repo     string   // of the hub: owner/name
	revision string   // of the hub; empty for the default
	url      *url.URL // of a folder or archive, without credentials
	user     *url.Userinfo
	known    Known // the zero value for a model that the table lacks
	name     string
}

// String names the source as the lock file does. It holds no credentials: the
// query of a URL is one where the URL is signed.
func (s source) String() string {
	if s.url != nil {
		return shown(s.url)
	}
	return s.repo
}

var (
	repoPattern   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$`)
	namePattern   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	commitPattern = regexp.MustCompile(`^[0-9a-f]{40}$`)
	sha256Pattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

func isCommit(s string) bool { return commitPattern.MatchString(s) }

// checkName refuses names that are no plain folder name, or that the store
// uses itself.
func checkName(name string) error {
	if !namePattern.MatchString(name) || strings.HasSuffix(name, stagingSuffix) || strings.HasSuffix(name, replacedSuffix) {
		return fmt.Errorf("%q can't be a model's name: use letters, digits, . - and _ (and no ending %s or %s)", name, stagingSuffix, replacedSuffix)
	}
	return nil
}

// parseRef reads what the user typed: a known name, owner/name, or a URL.
func parseRef(ref string, all []Known, endpoint *url.URL) (source, error) {
	if k, ok := find(all, byName(ref)); ok {
		if k.Builtin {
			return source{kind: fromBuild, known: k, name: k.Name}, nil
		}
		return source{kind: fromHub, repo: k.Repo, revision: k.Revision, known: k, name: k.Name}, nil
	}
	if strings.Contains(ref, "://") {
		return parseURL(ref, all, endpoint)
	}
	if repoPattern.MatchString(ref) {
		return hubSource(ref, "", all), nil
	}
	return source{}, fmt.Errorf("%q is no known model: `stepgap models list` shows those; or give owner/name of the hub, or a URL", ref)
}

func hubSource(repo, revision string, all []Known) source {
	s := source{kind: fromHub, repo: repo, revision: revision, name: path.Base(repo)}
	if k, ok := find(all, byRepo(repo)); ok {
		s.known, s.name = k, k.Name
		if revision == "" {
			s.revision = k.Revision
		}
	}
	return s
}

func parseURL(ref string, all []Known, endpoint *url.URL) (source, error) {
	u, err := url.Parse(ref)
	if err != nil {
		// What was typed may hold a password, and the error repeats it.
		return source{}, errors.New("the URL of the model can't be read: write it as https://host/path")
	}
	if (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return source{}, fmt.Errorf("a model's URL starts with https:// or http://, not %s://", u.Scheme)
	}
	if u.Host == endpoint.Host || u.Host == "huggingface.co" {
		at := strings.Trim(strings.TrimPrefix(u.Path, strings.TrimSuffix(endpoint.Path, "/")), "/")
		if parts := strings.Split(at, "/"); len(parts) == 2 && repoPattern.MatchString(at) {
			return hubSource(at, "", all), nil
		} else if len(parts) >= 4 && parts[2] == "tree" && repoPattern.MatchString(parts[0]+"/"+parts[1]) {
			return hubSource(parts[0]+"/"+parts[1], strings.Join(parts[3:], "/"), all), nil
		}
	}
	s := source{kind: fromFolder, url: u, user: u.User}
	u.User, u.Fragment = nil, ""
	base := path.Base(strings.TrimSuffix(u.Path, "/"))
	for _, ending := range []string{".tar.gz", ".tgz"} {
		if name, ok := strings.CutSuffix(base, ending); ok {
			s.kind, base = fromArchive, name
		}
	}
	s.name = base
	if checkName(base) != nil {
		s.name = "" // the caller asks for one
	}
	return s, nil
}
