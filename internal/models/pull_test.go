package models_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/models"
)

func TestPullFetchesAModelAndLocksIt(t *testing.T) {
	t.Parallel()
	files, h, r := newPull(t)
	lock := r.pull(t, models.Request{Ref: testRepo})

	dir := r.store.Path("some-nli")
	require.ElementsMatch(t, []string{"config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "model.onnx", models.LockFile}, filesIn(t, dir))
	require.Equal(t, files["onnx/model.onnx"], read(t, dir, "model.onnx"))
	onDisk, err := models.ReadLock(dir)
	require.NoError(t, err)
	require.Equal(t, lock, onDisk)
	require.Equal(t, []string{testRepo, "main", testCommit, "mit", "model.onnx"}, []string{lock.Source, lock.Revision, lock.Commit, lock.Licence, lock.Model})
	for _, f := range lock.Files {
		require.Equal(t, shaOf(files[f.From]), f.SHA256, f.Name)
		require.Equal(t, int64(len(files[f.From])), f.Size, f.Name)
		want := models.CheckedGit
		if f.Name == "model.onnx" {
			want = models.CheckedHub
		}
		require.Equal(t, want, f.Checked, f.Name)
	}
	require.Equal(t, []string{".some-nli.lock", "some-nli"}, filesIn(t, r.store.Dir), "nothing else is left")
	require.Equal(t, int64(100_000), r.notes.bytes["model.onnx"])

	before := len(h.requests(anything))
	r.pull(t, models.Request{Ref: testRepo})
	require.Len(t, h.requests(anything), before, "a second pull asks for nothing")
}

func TestTwoPullsAtOnceFetchOnce(t *testing.T) {
	t.Parallel()
	h := newHub(t, modelFiles())
	store := models.Store{Dir: t.TempDir()}
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		r := rigOn(t, store, h.hub.URL, nil) // a puller each, as processes have
		wg.Go(func() { _, errs[i] = r.Pull(t.Context(), models.Request{Ref: testRepo}) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, h.requests(ofFile("config.json")), 1)
	require.Len(t, h.requests(ofStore), 1)
	v, err := models.Verify(t.Context(), store.Path("some-nli"))
	require.NoError(t, err)
	require.NoError(t, v.Err())
}

func TestExternalDataComesWithItsModel(t *testing.T) {
	t.Parallel()
	files := modelFiles()
	for _, name := range []string{"onnx/model.onnx_data", "onnx/model.onnx_data_1", "onnx/model_fp16.onnx_data"} {
		files[name] = bytesOf(name, 2000)
	}
	h := newHub(t, files)
	r := newRig(t, h.hub.URL, nil)
	r.pull(t, models.Request{Ref: testRepo})
	dir := r.store.Path("some-nli")
	require.Equal(t, files["onnx/model.onnx_data"], read(t, dir, "model.onnx_data"))
	require.Equal(t, files["onnx/model.onnx_data_1"], read(t, dir, "model.onnx_data_1"))
	require.NoFileExists(t, filepath.Join(dir, "model_fp16.onnx_data"), "another model's")
}

func TestAnotherFileOfTheSameCommitIsAddedToTheFolder(t *testing.T) {
	t.Parallel()
	_, h, r := newPull(t)
	r.pull(t, models.Request{Ref: testRepo})
	lock := r.pull(t, models.Request{Ref: testRepo, File: "onnx/model_fp16.onnx"})
	require.Equal(t, "model_fp16.onnx", lock.Model)
	require.Len(t, h.requests(ofFile("tokenizer.json")), 1, "what is there is not fetched again")
	v, err := models.Verify(t.Context(), r.store.Path("some-nli"))
	require.NoError(t, err)
	require.NoError(t, v.Err())
	require.Len(t, v.Files, 6)
	require.Equal(t, []string{".some-nli.lock", "some-nli"}, filesIn(t, r.store.Dir))
}

func TestANameIsNotGivenToAnotherModelUnasked(t *testing.T) {
	t.Parallel()
	_, h, r := newPull(t)
	r.pull(t, models.Request{Ref: testRepo})

	_, err := r.Pull(t.Context(), models.Request{Ref: testRepo, Revision: "v2"})
	require.ErrorContains(t, err, "--replace")
	_, err = r.Pull(t.Context(), models.Request{Ref: h.store.URL + "/x", As: "some-nli"})
	require.ErrorContains(t, err, testRepo)
	_, err = r.Pull(t.Context(), models.Request{Ref: testRepo, As: "deberta-v3-base"})
	require.ErrorContains(t, err, "--as")

	h.set("onnx/model.onnx", bytesOf("v2", 70_000))
	h.commit = "89abcdef0123456789abcdef0123456789abcdef"
	lock := r.pull(t, models.Request{Ref: testRepo, Revision: "v2", Replace: true})
	require.Equal(t, h.commit, lock.Commit)
	require.Equal(t, bytesOf("v2", 70_000), read(t, r.store.Path("some-nli"), "model.onnx"))
	require.Equal(t, []string{".some-nli.lock", "some-nli"}, filesIn(t, r.store.Dir))

	require.NoError(t, os.MkdirAll(r.store.Path("mine"), 0o755))
	_, err = r.Pull(t.Context(), models.Request{Ref: testRepo, As: "mine"})
	require.ErrorContains(t, err, "was not pulled", "a folder of the user's own is not touched")
}

func TestADamagedFileIsFetchedAgain(t *testing.T) {
	t.Parallel()
	files, h, r := newPull(t)
	r.pull(t, models.Request{Ref: testRepo})
	dir := r.store.Path("some-nli")
	require.NoError(t, os.Truncate(filepath.Join(dir, "model.onnx"), 5))
	r.pull(t, models.Request{Ref: testRepo})
	require.Equal(t, files["onnx/model.onnx"], read(t, dir, "model.onnx"))
	require.Len(t, h.requests(ofFile("tokenizer.json")), 1)
}

func TestAReplacedModelComesBackAfterACrashBetweenTheRenames(t *testing.T) {
	t.Parallel()
	_, h, r := newPull(t)
	r.pull(t, models.Request{Ref: testRepo})
	dir := r.store.Path("some-nli")
	require.NoError(t, os.Rename(dir, dir+".replaced"))
	off := rigOn(t, r.store, h.hub.URL, func(o *models.Options) { o.Env.Offline = true })
	off.pull(t, models.Request{Ref: testRepo})
	require.FileExists(t, filepath.Join(dir, "model.onnx"))
}
