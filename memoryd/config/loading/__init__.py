"""From a file, the environment and flags to a checked configuration."""
