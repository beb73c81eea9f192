"""Commands that work without a daemon."""
