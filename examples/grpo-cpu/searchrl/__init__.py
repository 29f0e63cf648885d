"""A search agent small enough to be trained on a CPU, with rewards of a real pipeline."""
