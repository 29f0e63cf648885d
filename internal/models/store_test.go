package models_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/models"
)

func TestTheTableOfKnownModelsIsSound(t *testing.T) {
	t.Parallel()
	all, err := models.KnownModels()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, k := range all {
		require.False(t, seen[k.Name], "%s stands there twice", k.Name)
		seen[k.Name] = true
		require.NotEmpty(t, k.Licence, k.Name)
		if k.Builtin {
			continue
		}
		require.Regexp(t, `^[\w.-]+/[\w.-]+$`, k.Repo, k.Name)
		require.NotEmpty(t, k.Revision, k.Name)
		require.Equal(t, k.Convert, k.File == "", "%s: a file, or that there is none", k.Name)
		if len(k.Files) > 0 {
			require.Regexp(t, `^[0-9a-f]{40}$`, k.Revision, "%s: hashes hold at a commit alone", k.Name)
		}
		for path, f := range k.Files {
			require.Regexp(t, `^[0-9a-f]{64}$`, f.SHA256, "%s %s", k.Name, path)
			require.GreaterOrEqual(t, f.Size, int64(0), "%s %s", k.Name, path)
		}
	}
	for _, want := range []string{"nli-minilm", "deberta-v3-xsmall", "deberta-v3-small", "deberta-v3-base", "deberta-v3-large"} {
		require.True(t, seen[want], want)
	}
}

func pulledStore(t *testing.T) (*rig, string) {
	t.Helper()
	_, _, r := newPull(t)
	r.pull(t, models.Request{Ref: testRepo})
	return r, r.store.Path("some-nli")
}

func TestVerifyNamesWhatDiffersWithItsNumbers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   []string
	}{
		"one bit": {func(t *testing.T, dir string) {
			b := read(t, dir, "model.onnx")
			b[77] ^= 1
			require.NoError(t, os.WriteFile(filepath.Join(dir, "model.onnx"), b, 0o644))
		}, []string{"model.onnx", "expected " + shaOf(modelFiles()["onnx/model.onnx"])}},
		"cut": {func(t *testing.T, dir string) {
			require.NoError(t, os.Truncate(filepath.Join(dir, "model.onnx"), 999))
		}, []string{"999 bytes, expected 100000"}},
		"gone": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "tokenizer.json")))
		}, []string{"tokenizer.json: it is not there"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, dir := pulledStore(t)
			v, err := models.Verify(t.Context(), dir)
			require.NoError(t, err)
			require.NoError(t, v.Err())
			require.Equal(t, models.AgainstLock, v.Against)

			c.damage(t, dir)
			v, err = models.Verify(t.Context(), dir)
			require.NoError(t, err)
			require.ErrorIs(t, v.Err(), models.ErrMismatch)
			for _, want := range c.want {
				require.ErrorContains(t, v.Err(), want)
			}
			list, err := r.store.List("")
			require.NoError(t, err)
			i := slices.IndexFunc(list, func(e models.Entry) bool { return e.Name == "some-nli" })
			require.Equal(t, models.StateChanged, list[i].State)
		})
	}
}

// A lock file is written on this machine and can be changed on it; the table
// comes with the program.
func TestALockFileIsHeldToTheTable(t *testing.T) {
	t.Parallel()
	all, err := models.KnownModels()
	require.NoError(t, err)
	k := all[1]
	r, dir := pulledStore(t)
	text := string(read(t, dir, models.LockFile))
	text = strings.ReplaceAll(text, testRepo, k.Repo)
	text = strings.ReplaceAll(text, testCommit, k.Revision)
	require.NoError(t, os.WriteFile(filepath.Join(dir, models.LockFile), []byte(text), 0o644))
	v, err := models.Verify(t.Context(), dir)
	require.NoError(t, err)
	require.ErrorContains(t, v.Err(), "the table of known models "+k.Files["onnx/model.onnx"].SHA256)
	require.NoError(t, r.store.MarkVerified(t.Context(), v, time.Now()), "and it is not noted as verified")
}

func TestALockFileThatPointsOutsideIsRefused(t *testing.T) {
	t.Parallel()
	_, dir := pulledStore(t)
	text := strings.ReplaceAll(string(read(t, dir, models.LockFile)), `"name": "model.onnx"`, `"name": "../../x"`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, models.LockFile), []byte(text), 0o644))
	_, err := models.Verify(t.Context(), dir)
	require.ErrorContains(t, err, "no plain file name")
}

func TestACopiedFolderIsVerifiedAgain(t *testing.T) {
	t.Parallel()
	r, dir := pulledStore(t)
	later := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "model.onnx"), later, later)) // as cp does
	state := func() models.State {
		list, err := r.store.List("")
		require.NoError(t, err)
		return list[len(list)-1].State
	}
	require.Equal(t, models.StateChanged, state())
	v, err := models.Verify(t.Context(), dir)
	require.NoError(t, err)
	require.NoError(t, r.store.MarkVerified(t.Context(), v, later.Add(time.Second)))
	require.Equal(t, models.StateVerified, state())
}

func TestListShowsWhatIsKnownAndWhatIsHere(t *testing.T) {
	t.Parallel()
	r, dir := pulledStore(t)
	own := r.store.Path("my-own")
	require.NoError(t, os.MkdirAll(own, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(own, "config.json"), []byte(`{"id2label": {"0": "yes", "1": "no"}}`), 0o644))
	list, err := r.store.List(dir)
	require.NoError(t, err)
	by := map[string]models.Entry{}
	for _, e := range list {
		by[e.Name] = e
	}
	require.Equal(t, models.StateBuilt, by["nli-minilm"].State)
	require.Equal(t, models.StateAbsent, by["deberta-v3-base"].State)
	require.Nil(t, by["deberta-v3-base"].Bytes, "what is not here has no size of ours")
	require.Equal(t, models.StateVerified, by["some-nli"].State)
	require.Equal(t, []string{"contradiction", "entailment", "neutral"}, by["some-nli"].Labels)
	require.Equal(t, "mit", by["some-nli"].Licence)
	require.Equal(t, models.StateUnlocked, by["my-own"].State)
	require.Equal(t, []string{"yes", "no"}, by["my-own"].Labels)

	none, err := models.Store{Dir: filepath.Join(t.TempDir(), "not", "there")}.List("")
	require.NoError(t, err)
	require.NotEmpty(t, none)
}

func TestTheSizeOfALinkedModelIsThatOfItsFiles(t *testing.T) {
	t.Parallel()
	r, dir := pulledStore(t)
	linked := func(name string) (models.Entry, string) {
		list, err := r.store.List("")
		require.NoError(t, err)
		i := slices.IndexFunc(list, func(e models.Entry) bool { return e.Name == name })
		require.GreaterOrEqual(t, i, 0)
		return list[i], r.store.Path(name)
	}
	own, _ := linked("some-nli")
	require.Greater(t, *own.Bytes, int64(100_000))
	require.NoError(t, os.Symlink(dir, r.store.Path("folder")))
	folder, _ := linked("folder")
	require.Equal(t, own.Bytes, folder.Bytes)

	require.NoError(t, os.Mkdir(r.store.Path("files"), 0o755))
	for _, name := range filesIn(t, dir) {
		require.NoError(t, os.Symlink(filepath.Join(dir, name), filepath.Join(r.store.Path("files"), name)))
	}
	files, at := linked("files")
	require.Equal(t, own.Bytes, files.Bytes)
	require.NoError(t, os.Symlink(filepath.Join(dir, "gone"), filepath.Join(at, "more.json")))
	broken, _ := linked("files")
	require.Nil(t, broken.Bytes, "what can't be measured is no number")
}

func TestResolveTakesFoldersAndNames(t *testing.T) {
	t.Parallel()
	r, dir := pulledStore(t)
	_, err := r.Pull(t.Context(), models.Request{Ref: testRepo, File: "onnx/model_fp16.onnx", As: "half"})
	require.NoError(t, err)
	for name, c := range map[string]struct{ ref, file, dir, model string }{
		"a folder":                         {dir, "model.onnx", dir, "model.onnx"},
		"a name":                           {"some-nli", "model.onnx", dir, "model.onnx"},
		"a name, pulled with another file": {"half", "model.onnx", r.store.Path("half"), "model_fp16.onnx"},
		"a folder without a lock file":     {bare(t), "model.onnx", "", "model.onnx"},
	} {
		t.Run(name, func(t *testing.T) {
			gotDir, model, err := r.store.Resolve(c.ref, c.file)
			require.NoError(t, err)
			if c.dir != "" {
				require.Equal(t, c.dir, gotDir)
			}
			require.Equal(t, c.model, model)
		})
	}
	_, _, err = r.store.Resolve("deberta-v3-base", "model.onnx")
	require.ErrorIs(t, err, models.ErrAbsent)
	require.ErrorContains(t, err, "stepgap models pull deberta-v3-base")
	_, _, err = r.store.Resolve("no-such", "model.onnx")
	require.ErrorIs(t, err, models.ErrAbsent)
	require.ErrorContains(t, err, "stepgap models list")
	_, _, err = r.store.Resolve("/no/such/folder", "model.onnx")
	require.ErrorContains(t, err, "/no/such/folder")
	require.NotErrorIs(t, err, models.ErrAbsent)
}

// bare is a folder that was not pulled.
func bare(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte("{}"), 0o644))
	return dir
}

func TestEnvironmentOfTheHub(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte("fromFile\n"), 0o600))
	for name, c := range map[string]struct {
		env      map[string]string
		endpoint string
		token    models.Token
		offline  bool
		err      string
	}{
		"nothing":        {endpoint: models.DefaultEndpoint},
		"a mirror":       {env: map[string]string{"HF_ENDPOINT": "https://mirror.example/hf/"}, endpoint: "https://mirror.example/hf"},
		"no URL":         {env: map[string]string{"HF_ENDPOINT": "mirror"}, err: "HF_ENDPOINT"},
		"token":          {env: map[string]string{"HF_TOKEN": " abc ", "HF_HOME": dir}, endpoint: models.DefaultEndpoint, token: "abc"},
		"token of home":  {env: map[string]string{"HF_HOME": dir}, endpoint: models.DefaultEndpoint, token: "fromFile"},
		"token's path":   {env: map[string]string{"HF_TOKEN_PATH": filepath.Join(dir, "token")}, endpoint: models.DefaultEndpoint, token: "fromFile"},
		"a missing path": {env: map[string]string{"HF_TOKEN_PATH": filepath.Join(dir, "nope")}, err: "token"},
		"no token there": {env: map[string]string{"HOME": dir}, endpoint: models.DefaultEndpoint},
		"offline":        {env: map[string]string{"HF_HUB_OFFLINE": "1"}, endpoint: models.DefaultEndpoint, offline: true},
		"not offline":    {env: map[string]string{"HF_HUB_OFFLINE": "0"}, endpoint: models.DefaultEndpoint},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, err := models.ReadEnv(func(k string) string { return c.env[k] })
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.endpoint, env.Endpoint.String())
			require.True(t, c.token == env.Token, "the token that was expected")
			require.Equal(t, c.offline, env.Offline)
		})
	}
}

func TestWhatIsPulledIsReadFromTheArgument(t *testing.T) {
	t.Parallel()
	h := newHub(t, modelFiles())
	for name, c := range map[string]struct {
		request models.Request
		err     string
		name    string
	}{
		"owner/name":                 {request: models.Request{Ref: testRepo}, name: "some-nli"},
		"the hub's page":             {request: models.Request{Ref: h.hub.URL + "/" + testRepo}, name: "some-nli"},
		"the page of a revision":     {request: models.Request{Ref: h.hub.URL + "/" + testRepo + "/tree/refs/pr/1"}, name: "some-nli"},
		"the real hub's page":        {request: models.Request{Ref: "https://huggingface.co/" + testRepo}, name: "some-nli"},
		"another name":               {request: models.Request{Ref: testRepo, As: "x"}, name: "x"},
		"a name that leaves":         {request: models.Request{Ref: testRepo, As: "../x"}, err: "can't be a model's name"},
		"a name of the store's own":  {request: models.Request{Ref: testRepo, As: "x.pulling"}, err: "can't be a model's name"},
		"nothing of that name":       {request: models.Request{Ref: "some-nli"}, err: "models list"},
		"another scheme":             {request: models.Request{Ref: "ftp://host/x"}, err: "https://"},
		"a URL without a name":       {request: models.Request{Ref: h.store.URL}, err: "--as"},
		"a hash that is none":        {request: models.Request{Ref: testRepo, SHA256: "abc"}, err: "--sha256"},
		"a file that leaves":         {request: models.Request{Ref: testRepo, File: "../x.onnx"}, err: "--file"},
		"a revision of a folder":     {request: models.Request{Ref: h.store.URL + "/x", Revision: "v1"}, err: "--revision"},
		"the model of set-up itself": {request: models.Request{Ref: "nli-minilm"}, err: "make setup"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lock, err := newRig(t, h.hub.URL, nil).Pull(t.Context(), c.request)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.name, lock.Name)
		})
	}
}
