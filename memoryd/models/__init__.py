"""Model files: sources, the store, downloads, packaged models, and GGUF metadata."""
