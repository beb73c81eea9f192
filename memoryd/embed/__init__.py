"""Text into vectors, by llama.cpp in a child (local/) or by a provider (remote/)."""
