"""Embedders behind an HTTP endpoint: one module for each provider's wire format, one for HTTP."""
