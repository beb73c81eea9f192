"""All figures of the follow-up questions: the store is filled in a folder for temporary files, and asked."""

import tempfile
from pathlib import Path

from bench.followups.followup_set import followups
from bench.followups.gold_found import GoldFound, gold_found, groups
from bench.followups.retrievers import retrievers

Figures = dict[str, dict[str, GoldFound]]
"""Group → way to look up → figures."""


def measured(model: Path) -> Figures:
    """Return all figures, with the vectors of a model; they are the same in each run."""
    with tempfile.TemporaryDirectory(prefix="memoryd-followups-") as folder:
        ways = retrievers(Path(folder), model).items()
        given = {name: {one.id: way(one) for one in followups()} for name, way in ways}
    return {
        group: {name: gold_found((one, turns[one.id]) for one in questions) for name, turns in given.items()}
        for group, questions in groups(followups()).items()
    }
