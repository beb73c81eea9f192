"""Embedders at an HTTP endpoint: wire formats, HTTP, circuit breaker, batch jobs."""
