"""From a question to ranked, verified, cited hits."""
