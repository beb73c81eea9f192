"""How much of its history a workspace keeps; beyond it the oldest goes, and nothing of the notes."""

from typing import Final

CHANGES_MAX: Final = 10_000
CHANGE_BYTES_MAX: Final = 64 * 2**20
"""Of the lines of all changes, which undoing them takes."""
PROPOSALS_MAX: Final = 5_000
"""The oldest that were decided go; open ones stay."""
RUNS_MAX: Final = 400
"""Of reflect: a year of daily ones."""
