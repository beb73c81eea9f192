"""Safe access to files: scanning, privacy rules, reading and atomic writing."""
