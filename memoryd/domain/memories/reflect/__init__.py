"""What reflect makes of memories: opinions, pages, and proposals that a person decides."""
