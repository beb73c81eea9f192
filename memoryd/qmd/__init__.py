"""The external program qmd as a sidecar, which may answer queries instead of the builtin index."""
