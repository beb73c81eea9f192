"""The external program qmd as a sidecar that may answer instead of the builtin index."""
