"""Loading and validation of the configuration from a file, the environment and flags."""
