"""One agent: its index, its ledger and its models, opened and wired from the configuration."""
