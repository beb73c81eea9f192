"""Commands that ask the daemon."""
