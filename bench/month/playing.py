"""A month told to the real daemon: it starts each morning with a later clock, and what it answers is written down."""

import html
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import click

from bench.month.days import DATA, LANGUAGES, NEEDING, STATING, Day, Message, month
from memoryd.client import Client
from tests.daemon import RunningDaemon, write_config_of
from tests.waiting import eventually

START: Final = date(2026, 11, 24)
"""The day after the last that the notes of the workspaces know of."""
LIBRARIES: Final = ("lib*/*/faketime/libfaketime.so.1", "lib*/faketime/libfaketime.so.1", "local/lib/faketime/*.so.1")
"""Where libfaketime may be below /usr."""
NOTE: Final = re.compile(r"<note(?P<said>[^>]*)>\n(?P<text>.*?)\n</note>", re.DOTALL)
SAID: Final = re.compile(r'(\w+)="([^"]*)"')
TIDIED: Final = "tidied"
"""The kind of a row of the protocol that says what a day has changed."""
OKAY: Final = {"en": "Okay.", "zh": "好的。"}
Row = dict[str, Any]
Tiers = dict[str, dict[str, str]]


def clock_library() -> Path:
    """Return the library that moves the clock, or say where it comes from."""
    found = next((path for pattern in LIBRARIES for path in sorted(Path("/usr").glob(pattern))), None)
    if found is None:
        raise click.UsageError("the clock cannot be moved: install libfaketime (apt-get install faketime)")
    return found


def play(days: int, messages: int, seed: int, model: Path | None = None) -> Iterator[Row]:
    """Yield the protocol: a row for each message and what came for it, and one for each day of each person."""
    said = {person: month(person, days, messages, seed) for person in LANGUAGES}
    tiers: Tiers = {}
    with tempfile.TemporaryDirectory(prefix="month-") as folder:
        home, config = Path(folder), _config(Path(folder), model)
        for at in range(days + 1):
            day = START + timedelta(days=at)
            with _morning(home, config, day, has_model=model is not None) as client:
                yield from _tidied(client, day, tiers)
                for person in LANGUAGES if at < days else ():
                    yield from _day(client, person, day, said[person][at])


def _config(home: Path, model: Path | None) -> Path:
    shutil.copytree(DATA / "ws", home / "ws")
    return write_config_of(list(LANGUAGES), home, home / "ws", model, memory={"timezone": "UTC"})


@contextmanager
def _morning(home: Path, config: Path, day: date, *, has_model: bool) -> Iterator[Client]:
    """Start the daemon at eight o'clock of a day; waits and the times of files stay those of the machine."""
    environment = {
        "LD_PRELOAD": str(clock_library()),
        "FAKETIME": f"@{day} 08:00:00",
        "DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",
        "NO_FAKE_STAT": "1",
        "TZ": "UTC",
        "PYTHONPATH": f"{Path(__file__).parent / 'clock'}:{Path(__file__).parents[2]}",
        "MEMORYD_LOG_LEVEL": "WARNING",
    }
    with RunningDaemon(home, config, home, environment=environment) as running:
        client = running.client(timeout=600)
        client.sync(wait="embedded" if has_model else "indexed", timeout_ms=600_000)
        yield client


def _day(client: Client, person: str, day: date, said: Day) -> Iterator[Row]:
    for at, message in enumerate(said):
        key = f"agent:{person}:telegram:direct:{person}:{day:%m%d}-{2 * at // len(said)}"
        yield {"day": str(day), "person": person} | _answered(client, person, key, message)
        if message.kind in STATING:
            eventually(lambda: not _pending(client, person))


def _answered(client: Client, person: str, key: str, message: Message) -> Row:
    row: Row = {"kind": message.kind, "by": message.by, "text": message.text}
    if message.by == "agent":
        client.retain(message.text, agent=person, session_key=key)
        return row
    reply = client.turn(message.text, session_key=key)
    stable, items = told(str(reply["bundle"] or ""))
    told_all = [*stable.splitlines(), *(item["text"] for item in items)]
    client.turn(_answer(message, told_all, LANGUAGES[person]), role="assistant", session_key=key)
    row |= {"want": message.want, "stale": message.stale, "verdict": reply["verdict"], "capture": reply["capture"]}
    if message.kind in NEEDING:
        row["stable"] = stable
    characters = sum(len(item["text"]) for item in items)
    return row | {"items": items, "characters": characters, "tookMs": reply["tookMs"]}


def told(bundle: str) -> tuple[str, list[dict[str, str]]]:
    """Return the stable block, and the texts of what was recalled, each with what the bundle says of it."""
    stable, _, recalled = bundle.partition("<recalled-memory>")
    notes = ((html.unescape(one["text"]), html.unescape(one["said"])) for one in NOTE.finditer(recalled))
    return html.unescape(stable), [{"text": text, **dict(SAID.findall(said))} for text, said in notes]


def _answer(message: Message, texts: Sequence[str], language: str) -> str:
    """Return what an agent would say: what was asked for, if it was told."""
    wanted = [text for group in message.want for text in group if message.kind in NEEDING]
    return " ".join(one for one in texts if any(text.lower() in one.lower() for text in wanted)) or OKAY[language]


def _pending(client: Client, person: str) -> int:
    return next(one["pendingCaptures"] for one in client.status()["agents"] if one["id"] == person)


def _tidied(client: Client, day: date, tiers: Tiers) -> Iterator[Row]:
    """Yield for each person which memories the day before has brought, and which entered core or left it."""
    for person in LANGUAGES:
        # the ids of memories are theirs for good; texts are written down, for a reader
        found = {one["id"]: one for one in client.memories(agent=person, limit=1000)["memories"]}
        before = tiers.get(person)
        now = {name: str(one["tier"]) for name, one in found.items()}
        tiers[person] = now
        if before is not None:
            entered = [name for name in now if now[name] == "core" and before.get(name, "") != "core"]
            left = [name for name in before if before[name] == "core" and now.get(name, "") != "core"]
            yield {
                "day": str(day - timedelta(days=1)),
                "person": person,
                "kind": TIDIED,
                "new": [one["text"] for name, one in found.items() if name not in before],
                "superseded": sum(bool(one["superseded_by"]) for one in found.values()),
                "core": [found[name]["text"] for name in entered],
                "promoted": [found[name]["text"] for name in entered if name in before],
                "left": [found[name]["text"] for name in left if name in found],
                "inCore": sum(tier == "core" for tier in now.values()),
            }
