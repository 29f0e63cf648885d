// Package stepset holds sets of labelled steps: the file format, our own set,
// and builders that make sets from public data.
//
// A set is a file of JSON lines, one rollout a line. Its steps carry the gold
// label of each step that is scored; steps without a label are context, which a
// conclusion needs and nobody scores. docs/step-sets.md describes every key.
//
// The labels of built sets follow from how a step was made (which paragraph was
// left out, which answer was put in), or from mapping another task's labels to
// ours. These mappings are ours, not those of the people who annotated the
// data: say so wherever a figure is shown. Set.Mapping holds the sentence.
//
// The package judges nothing, and no builder looks at what a judge says.
package stepset
