"""Where weights come from: the store, downloads, packaged models, and what a GGUF says of itself."""
