"""The status of an agent: its states, figures and degradations."""
