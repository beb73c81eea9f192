"""The shared memory of a team: its carriers, and what is sent and fetched. Not loaded without a team."""
