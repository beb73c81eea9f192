"""Sets of messages, and how one is played: the real daemon answers, its clock moved to the day of the set."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from bench.month.playing import told
from tests.daemon import RunningDaemon, write_config_of

SETS: Final = Path(__file__).parent / "sets"
WORDS, HYBRID = "words", "hybrid"
"""How a set is played: by words alone, or with the small model beside them."""
OKAY: Final = {"en": "Okay.", "zh": "好的。", "de": "In Ordnung."}
"""What an agent answers where a set has no answer of its own."""


class Weighed(Struct):
    """What spoke for the items beside a message: the kinds of evidence of both, before they are weighed."""

    kinds: dict[str, float]
    items: list[tuple[str, dict[str, float]]]


class Played(Struct):
    """A message of a set, the texts that were told beside it, and what was weighed; None where nothing was."""

    of: str
    mode: str
    lang: str
    text: str
    want: list[list[str]]
    """Groups of texts, of each of which one has to be told; of what needs nothing there is none."""
    told: list[str]
    weighed: Weighed | None

    @property
    def is_right(self) -> bool:
        """Tell whether all that is needed was told; or nothing, where nothing is."""
        if not self.want:
            return not self.told
        return all(any(holds(text, group) for text in self.told) for group in self.want)


def holds(text: str, group: list[str]) -> bool:
    """Tell whether a text has one of a group of wanted ones in it."""
    return any(one.lower() in text.lower() for one in group)


def played(root: Path, model: Path | None = None) -> Iterator[Played]:
    """Play the messages of a set in their order, the persons beside each other."""
    late = datetime.now(UTC).date() - date.fromisoformat(json.loads((root / "meta.json").read_text())["now"])
    rows = [json.loads(line) for line in (root / "messages.jsonl").read_text(encoding="utf-8").splitlines()]
    persons = list(dict.fromkeys(row["workspace"] for row in rows))
    with tempfile.TemporaryDirectory(prefix="messages-") as folder:
        home, written = Path(folder), Path(folder) / "evidence.jsonl"
        for person in persons:
            _lay(root / "ws" / person, home / "ws" / person, late)
        config = write_config_of(persons, home, home / "ws", model)
        paths = f"{Path(__file__).parent / 'watched'}:{Path(__file__).parents[2]}"
        environment = {"PYTHONPATH": paths, "MESSAGES_EVIDENCE": str(written), "MEMORYD_LOG_LEVEL": "WARNING"}
        with RunningDaemon(home, config, home, environment=environment) as running:
            client = running.client(timeout=600)
            client.sync(wait="embedded" if model else "indexed", timeout_ms=600_000)
            written.touch()
            with written.open(encoding="utf-8") as lines:
                for row in rows:
                    key = f"agent:{row['workspace']}:{row['session']}"
                    reply = client.turn(row["text"], session_key=key)
                    client.turn(row.get("answer") or OKAY.get(row["lang"], "Okay."), role="assistant", session_key=key)
                    yield _played(
                        root.name, HYBRID if model else WORDS, row, str(reply["bundle"] or ""), lines.readlines()
                    )


def _played(name: str, mode: str, row: dict[str, Any], bundle: str, lines: list[str]) -> Played:
    # whom a message turns out to mean is weighed once more
    weighed = json.loads(lines[-1]) if lines else None
    return Played(
        of=name,
        mode=mode,
        lang=row["lang"],
        text=row["text"],
        want=row["want"] if row["label"] == "needs" else [],
        told=[item["text"] for item in told(bundle)[1]],
        weighed=Weighed(**weighed) if weighed else None,
    )


def _lay(source: Path, workspace: Path, late: timedelta) -> None:
    """Copy a workspace, its logs as much later as the day of the set is ago."""
    shutil.copytree(source, workspace)
    for log in sorted((workspace / "memory").glob("[0-9]*.md"), reverse=late > timedelta(0)) if late else ():
        log.rename(log.with_name(f"{date.fromisoformat(log.name[:10]) + late}{log.name[10:]}"))
