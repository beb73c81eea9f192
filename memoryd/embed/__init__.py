"""Embedding of text: by llama.cpp in a child process (local/) or by a provider (remote/)."""
