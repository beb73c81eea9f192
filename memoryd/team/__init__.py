"""The memory of a team: what carries it, and what is sent and brought in. Not loaded where there is no team."""
