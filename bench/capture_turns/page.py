"""The table of `docs/explanation/capture.md`: how well capture does, with a text model and without."""

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bench.capture_turns.scoring import CaptureScore
from bench.capture_turns.scripted_text_model import ScriptedTextModel
from bench.capture_turns.talking import listening, measured_by
from tests.contract.served_chat import served

PAGE: Final = Path(__file__).parents[2] / "docs" / "explanation" / "capture.md"
HEAD: Final = """\
| conversation | decided by | turns | kept | right | precision | recall | recall of forms |
|---|---|--:|--:|--:|--:|--:|--:|
"""
RULES: Final = "rules"
MODEL: Final = "scripted model"
_TABLE: Final = re.compile(rf"{re.escape(HEAD)}(?:\|.*\n)*")


def measured() -> str:
    """Run both daemons, and return the table."""
    with tempfile.TemporaryDirectory() as folder, listening(Path(folder)) as running:
        by_rules = measured_by(running)
    model = ScriptedTextModel()
    with (
        tempfile.TemporaryDirectory() as folder,
        served(model.server) as server,
        listening(Path(folder), llm={"provider": "openai", "model": "m-1", "baseUrl": server.url}) as running,
    ):
        by_model = measured_by(running, model.hears)
    return HEAD + rows(RULES, by_rules) + rows(MODEL, by_model)


def rows(decided_by: str, scores: Mapping[str, CaptureScore]) -> str:
    """Return the rows of one way to decide."""
    return "".join(
        f"| {name} | {decided_by} | {one.turns} | {one.kept} | {one.right} | {one.precision:.2f} "
        f"| {one.recall:.2f} | {one.found_forms / one.forms:.2f} |\n"
        for name, one in scores.items()
    )


def update(table: str) -> None:
    """Write the table into the page in place of the one that is there; raises ValueError if there is none."""
    text = PAGE.read_text("utf-8")
    if not _TABLE.search(text):
        raise ValueError(f"there is no table to replace in {PAGE}")
    PAGE.write_text(_TABLE.sub(lambda _found: table, text, count=1), "utf-8")
