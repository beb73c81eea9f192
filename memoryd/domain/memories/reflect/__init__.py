"""Results of reflect: opinions, pages, and proposals for a person to decide."""
