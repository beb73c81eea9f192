"""What OpenClaw reads in a transcript: which lines, their text and their time.

The facts and the reason of each difference are in `tests/data/openclaw/sessions.json`.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memoryd.sessions.transcripts.folders import find_transcripts
from memoryd.sessions.transcripts.reading import read_next

FACTS = json.loads((Path(__file__).parents[1] / "data/openclaw/sessions.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("fact", FACTS["transcripts"], ids=lambda fact: str(fact["id"]))
def test_what_is_said_in_a_transcript(tmp_path: Path, fact: Mapping[str, Any]) -> None:
    (tmp_path / fact["file"]).write_text("".join(f"{json.dumps(line)}\n" for line in fact["lines"]))
    found = find_transcripts(tmp_path)
    assert list(found.files) == ([] if "difference" in fact else [fact["file"]])
    lines = [line for name in found.files for line in read_next(tmp_path / name).lines]
    assert [(line.number, line.utterance.line, line.utterance.time) for line in lines] == [
        (number, text, datetime.fromtimestamp(ms / 1000, UTC) if ms else None) for number, text, ms in fact["said"]
    ]
