package models

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// remote is a file at a source.
type remote struct {
	Path string
	Size int64 // bytes; -1 if the source doesn't say
	// SHA256 and Git are what the source says the file hashes to; empty if it
	// doesn't say.
	SHA256, Git string
}

// Files of a model beside the ONNX file, by their base name.
var (
	neededFiles = []string{"config.json", "tokenizer.json"}
	sideFiles   = []string{"tokenizer_config.json", "special_tokens_map.json", "reference.json", "stepgap.json"}
)

// sumsFile holds hashes beside files, as sha256sum writes them.
const sumsFile = "SHA256SUMS"

// plan chooses which of a source's files to fetch, small ones first. file is
// the ONNX file that was asked for, or empty; prefer is the one that is taken
// if none was.
func plan(listing []remote, file, prefer string) (files []remote, model remote, err error) {
	model, err = chooseModel(listing, file, prefer)
	if err != nil {
		return nil, remote{}, err
	}
	for _, want := range neededFiles {
		f, ok := besides(listing, want, model)
		if !ok {
			return nil, remote{}, &absentError{file: want}
		}
		files = append(files, f)
	}
	for _, want := range sideFiles {
		if f, ok := besides(listing, want, model); ok {
			files = append(files, f)
		}
	}
	files = append(files, model)
	for _, f := range listing {
		if isDataOf(f.Path, model.Path) {
			files = append(files, f)
		}
	}
	return files, model, nil
}

// chooseModel picks the ONNX file.
func chooseModel(listing []remote, file, prefer string) (remote, error) {
	var all []string
	at := func(p string) (remote, bool) {
		i := slices.IndexFunc(listing, func(f remote) bool { return f.Path == p })
		if i < 0 {
			return remote{}, false
		}
		return listing[i], true
	}
	for _, f := range listing {
		if strings.HasSuffix(f.Path, ".onnx") {
			all = append(all, f.Path)
		}
	}
	slices.Sort(all)
	if file != "" {
		if f, ok := at(file); ok && strings.HasSuffix(file, ".onnx") {
			return f, nil
		}
		if len(all) == 0 {
			return remote{}, errNoONNX
		}
		return remote{}, fmt.Errorf("there is no ONNX file %q; there are %s", file, strings.Join(all, ", "))
	}
	for _, p := range []string{prefer, "onnx/model.onnx", "model.onnx"} {
		if f, ok := at(p); ok && p != "" {
			return f, nil
		}
	}
	switch len(all) {
	case 0:
		return remote{}, errNoONNX
	case 1:
		f, _ := at(all[0])
		return f, nil
	default:
		return remote{}, fmt.Errorf("there are several ONNX files: choose one with --file: %s", strings.Join(all, ", "))
	}
}

// besides finds a file of that name: at the top, or else in the model's folder.
func besides(listing []remote, name string, model remote) (remote, bool) {
	for _, p := range []string{name, path.Join(path.Dir(model.Path), name)} {
		for _, f := range listing {
			if f.Path == p {
				return f, true
			}
		}
	}
	return remote{}, false
}

// isDataOf says whether a file holds weights of the model outside its ONNX
// file, by the names that exporters give: model.onnx_data, model.onnx_data_1,
// model.onnx.data.
func isDataOf(p, model string) bool {
	return strings.HasPrefix(p, model+"_data") || p == model+".data"
}
