"""What is told of an agent: its states, figures and degradations."""
