package models

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// listingLimit bounds what is read of a listing: a hub's page has at most a
// thousand files.
const listingLimit = 16 << 20

// hub asks a Hugging Face hub.
type hub struct {
	client *client
	retry  *retrier
	at     *url.URL
}

// listing is a repository at a commit.
type listing struct {
	commit, licence string
	files           []remote
}

// list resolves a revision to its commit and lists the files of that commit.
func (h *hub) list(ctx context.Context, repo, revision string) (listing, error) {
	var info struct {
		SHA  string   `json:"sha"`
		Tags []string `json:"tags"`
	}
	if _, err := h.json(ctx, h.api(repo, "revision", revision), &info); err != nil {
		return listing{}, err
	}
	if !isCommit(info.SHA) {
		return listing{}, fmt.Errorf("%s does not say which commit %s@%s is", h.at.Host, repo, revision)
	}
	l := listing{commit: info.SHA}
	for _, t := range info.Tags {
		if licence, ok := strings.CutPrefix(t, "license:"); ok {
			l.licence = licence
		}
	}
	next := h.api(repo, "tree", info.SHA)
	next.RawQuery = "recursive=true"
	for next != nil {
		var page []struct {
			Type string `json:"type"`
			Path string `json:"path"`
			OID  string `json:"oid"`
			Size int64  `json:"size"`
			LFS  *struct {
				OID  string `json:"oid"`
				Size int64  `json:"size"`
			} `json:"lfs"`
		}
		var err error
		if next, err = h.json(ctx, next, &page); err != nil {
			return listing{}, err
		}
		for _, f := range page {
			if f.Type != "file" {
				continue
			}
			r := remote{Path: f.Path, Size: f.Size, Git: f.OID}
			if f.LFS != nil {
				// The git object of a large file is a pointer to it.
				r.Git, r.SHA256, r.Size = "", strings.TrimPrefix(f.LFS.OID, "sha256:"), f.LFS.Size
			}
			l.files = append(l.files, r)
		}
	}
	return l, nil
}

// ask fills in what a listing did not say of a file: the hub puts its hash and
// size on the answer that leads to it.
func (h *hub) ask(ctx context.Context, repo, commit string, f *remote) error {
	return h.retry.do(ctx, "asking for the hash of "+f.Path, func() (bool, error) {
		res, err := h.client.do(ctx, request{method: http.MethodHead, url: h.file(repo, commit, f.Path), stay: true})
		if err != nil {
			return false, err
		}
		res.Body.Close()
		tag := res.Header.Get("X-Linked-Etag")
		if tag == "" {
			tag = res.Header.Get("ETag")
		}
		switch tag = strings.Trim(strings.TrimPrefix(tag, "W/"), `"`); {
		case sha256Pattern.MatchString(tag):
			f.SHA256 = tag
		case isCommit(tag): // a blob's name is as long as a commit's
			f.Git = tag
		}
		var size int64
		if _, err := fmt.Sscan(res.Header.Get("X-Linked-Size"), &size); err == nil && size > 0 {
			f.Size = size
		}
		return false, nil
	})
}

// file is the URL of a file at a commit.
func (h *hub) file(repo, commit, path string) *url.URL {
	u := h.at.JoinPath(repo, "resolve", commit)
	for _, part := range strings.Split(path, "/") {
		u = u.JoinPath(url.PathEscape(part))
	}
	return u
}

// api is the URL of a question about a repository. A revision may hold slashes
// (refs/pr/1), which the hub wants escaped.
func (h *hub) api(repo, what, revision string) *url.URL {
	return h.at.JoinPath("api", "models", repo, what, url.PathEscape(revision))
}

// json fetches an answer and the URL of its next page, if it has one.
func (h *hub) json(ctx context.Context, u *url.URL, into any) (next *url.URL, err error) {
	err = h.retry.do(ctx, "asking "+h.at.Host, func() (bool, error) {
		b, header, err := h.client.readAll(ctx, request{method: http.MethodGet, url: u}, listingLimit)
		if err != nil {
			return false, err
		}
		if err := json.Unmarshal(b, into); err != nil {
			return false, fmt.Errorf("%s answers no JSON of a hub: %w; is HF_ENDPOINT a hub?", shown(u), err)
		}
		next = nextPage(u, header)
		return false, nil
	})
	return next, err
}

// nextPage reads the Link header. A page on another host is none of the hub's.
func nextPage(u *url.URL, h http.Header) *url.URL {
	for _, link := range strings.Split(strings.Join(h.Values("Link"), ","), ",") {
		target, params, ok := strings.Cut(strings.TrimSpace(link), ">")
		if !ok || !strings.Contains(params, `rel="next"`) {
			continue
		}
		next, err := u.Parse(strings.TrimPrefix(target, "<"))
		if err == nil && sameOrigin(next, u) {
			return next
		}
	}
	return nil
}
