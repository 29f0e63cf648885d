package models_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/models"
)

func TestAnInterruptedDownloadGoesOn(t *testing.T) {
	t.Parallel()
	files, h, r := newPull(t)
	h.failWith(once(cutAt(files["onnx/model.onnx"], 60_000)))
	r.pull(t, models.Request{Ref: testRepo})
	require.Equal(t, files["onnx/model.onnx"], read(t, r.store.Path("some-nli"), "model.onnx"))
	got := h.requests(ofStore)
	require.Len(t, got, 2)
	require.Equal(t, []string{"", "bytes=60000-"}, []string{got[0].rng, got[1].rng})
	require.Contains(t, r.notes.text(), "broke")
}

func TestTheNextPullGoesOnWhereTheLastEnded(t *testing.T) {
	t.Parallel()
	files := modelFiles()
	h := newHub(t, files)
	h.failWith(cutAt(files["onnx/model.onnx"], 30_000))
	first := newRig(t, h.hub.URL, givingUp)
	_, err := first.Pull(t.Context(), models.Request{Ref: testRepo})
	require.ErrorContains(t, err, "gave up")
	require.NoDirExists(t, first.store.Path("some-nli"), "half a model has no name")
	staged := first.store.Path("some-nli.pulling")
	require.Contains(t, filesIn(t, staged), "model.onnx.partial")
	require.NotContains(t, filesIn(t, staged), "model.onnx")
	list, err := first.store.List("")
	require.NoError(t, err)
	require.Equal(t, models.StateBegun, list[len(list)-1].State)

	h.failWith(nil)
	second := rigOn(t, first.store, h.hub.URL, nil)
	second.pull(t, models.Request{Ref: testRepo})
	require.Equal(t, files["onnx/model.onnx"], read(t, second.store.Path("some-nli"), "model.onnx"))
	got := h.requests(ofStore)
	require.Equal(t, "bytes=30000-", got[len(got)-1].rng)
	require.Len(t, h.requests(ofFile("tokenizer.json")), 1, "what was whole is not fetched again")
	require.NoDirExists(t, staged)
}

func TestAPullThatIsInterruptedSaysThatItGoesOn(t *testing.T) {
	t.Parallel()
	files, h, r := newPull(t)
	ctx, stop := context.WithCancel(t.Context())
	h.failWith(hangAfter(files["onnx/model.onnx"], 10_000, stop))
	_, err := r.Pull(ctx, models.Request{Ref: testRepo})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "goes on from there")
}

func TestAnotherVersionIsNotGoneOnWith(t *testing.T) {
	t.Parallel()
	files := modelFiles()
	h := newHub(t, files)
	h.failWith(cutAt(files["onnx/model.onnx"], 30_000))
	r := newRig(t, h.hub.URL, givingUp)
	_, err := r.Pull(t.Context(), models.Request{Ref: testRepo})
	require.Error(t, err)
	h.failWith(nil)
	h.set("onnx/model.onnx", bytesOf("v2", 100_000))
	h.commit = "89abcdef0123456789abcdef0123456789abcdef"
	r.pull(t, models.Request{Ref: testRepo})
	require.Equal(t, bytesOf("v2", 100_000), read(t, r.store.Path("some-nli"), "model.onnx"))
	got := h.requests(ofStore)
	require.Empty(t, got[len(got)-1].rng)
}

func TestAStalledDownloadIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	files := modelFiles()
	h := newHub(t, files)
	h.failWith(once(hangAfter(files["onnx/model.onnx"], 10, func() {})))
	r := newRig(t, h.hub.URL, func(o *models.Options) { o.Stall = 100 * time.Millisecond })
	r.pull(t, models.Request{Ref: testRepo})
	require.Contains(t, r.notes.text(), "stopped sending")
}
