"""Ten thousand memories and as much prose: what it takes to index them, and to know them all."""
