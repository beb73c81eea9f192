"""A synthetic workspace of memories: daily logs with retained lines, pages of entities, and prose beside them.

Lines are of all kinds; some state opinions, some are versions of an earlier fact, some say the same again, so that
whatever works on memories has something to do. The same for the same seed.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from bench.corpus import Writer

BEGUN: Final = date(2025, 1, 1)
LINES_PER_LOG: Final = 20
PROSE_BYTES: Final = 12_000
"""Of one note of prose: about ten chunks."""
_NAMES: Final = (
    *("Peter", "Anna", "Warrior", "The-Castle", "Maria", "北京", "王芳", "小李", "Apollo", "Garden"),
    *(f"Person{number}" for number in range(190)),
)
_TOPICS: Final = ("tea", "coffee", "trains", "morning runs", "jazz", "short meetings", "dark mode", "long walks")
_FACTS: Final = ("door code", "flat number", "dose in milligrams", "train platform", "seat", "budget in crowns")


@dataclass(frozen=True, slots=True)
class MemoryCorpus:
    """What was written: paths relative to the workspace, and the last day that has a log."""

    logs: tuple[str, ...]
    notes: tuple[str, ...]
    entities: tuple[str, ...]
    lines: int
    last_day: date


def write_memories(workspace: Path, *, lines: int = 10_000, chunks: int = 10_000, seed: int = 5) -> MemoryCorpus:
    """Write logs with so many retained lines, prose of about so many chunks, and a page for each entity."""
    chance = random.Random(seed)
    days = -(-lines // LINES_PER_LOG)
    logs = [_write(workspace, f"memory/{_day(at)}.md", log(chance, _day(at), LINES_PER_LOG)) for at in range(days)]
    writer = Writer(seed)
    notes = [
        _write(workspace, f"memory/prose/{at:04}.md", writer.note(PROSE_BYTES)) for at in range(max(chunks // 10, 1))
    ]
    for name in _NAMES[:10]:
        _write(workspace, f"bank/entities/{name.lower()}.md", f"---\naliases: [{name}s]\n---\n# {name}\n")
    return MemoryCorpus(tuple(logs), tuple(notes), _NAMES, days * LINES_PER_LOG, _day(days - 1))


def log(chance: random.Random, day: date, lines: int) -> str:
    """Return a daily log with so many retained lines and a little prose."""
    body = "\n".join(_line(chance) for _ in range(lines))
    return f"# {day}\n\nA quiet day at the desk, with a walk at noon.\n\n## Retain\n\n{body}\n"


def questions(count: int, seed: int = 6) -> Iterator[str]:
    """Yield questions of each kind that recall knows: words, entities, times and opinions, in English and Chinese."""
    chance = random.Random(seed)
    forms = (
        "what does {name} prefer",
        "what is the {fact} of {name}",
        "what happened to {name} around {day}",
        "who likes {topic}",
        "{name} 上周做了什么",
        "meetings with {name} since last month",
    )
    for _ in range(count):
        day = BEGUN + timedelta(days=chance.randrange(500))
        values = {"name": chance.choice(_NAMES), "fact": chance.choice(_FACTS), "topic": chance.choice(_TOPICS)}
        yield chance.choice(forms).format(day=f"{day:%b} {day.day}", **values)


def _day(at: int) -> date:
    return BEGUN + timedelta(days=at)


def _line(chance: random.Random) -> str:
    name, topic, fact = chance.choice(_NAMES), chance.choice(_TOPICS), chance.choice(_FACTS)
    number = chance.randrange(10_000)
    forms = (
        f"- W @{name}: the {fact} is {number}",
        f"- B @{name}: met {name} about {topic} yesterday, and {_words(chance)}",
        f"- O(c={chance.randrange(30, 99) / 100}) @{name}: {'prefers' if number % 3 else 'does not like'} {topic}",
        f"- S @{name} @Garden: {_words(chance)} in week {number % 52}",
        f"- preference @{name}: 喜欢{topic}, 上周三说的",
        f"- lesson(i=0.8): {_words(chance)}\n  and next time {_words(chance)}",
    )
    return chance.choice(forms)


def _words(chance: random.Random) -> str:
    return " ".join(chance.choices(("the boat", "was moved", "to the shed", "after dinner", "by the river"), k=4))


def _write(workspace: Path, name: str, text: str) -> str:
    path = workspace / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return name
