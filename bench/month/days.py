"""What three persons say on each day of a month, drawn from the pools in `data` with a fixed seed.

Mostly small talk, orders and questions of general knowledge; each day some tasks that need a memory, now and then a
new fact, days later a question about it, and for some facts a correction and questions about what holds now.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
LANGUAGES = {"samira-pharmacist": "en", "ruben-stage": "en", "guohao-noodle": "zh"}
"""The persons: each an agent with the workspace of that name."""
TASK, FACT, CORRECTION, QUESTION, CORRECTED = "task", "fact", "correction", "question", "corrected"
NEEDING = (TASK, QUESTION, CORRECTED)
STATING = (FACT, CORRECTION)
"""The kinds of what is said beside talk."""
TASKS_OF = 8
"""One message in so many is a task."""
FACTS_OF = 40
"""A new fact comes at most once in so many messages."""
STATED_SHARE = 0.7
"""All facts come in this share of the days, so that time is left to correct them and to ask."""


@dataclass(frozen=True)
class Message:
    """What is said: `want` are the texts of which a recalled item should hold one each, `stale` what no longer holds.

    `by` an agent, it is retained instead of said.
    """

    kind: str
    text: str
    by: str = "person"
    want: tuple[tuple[str, ...], ...] = ()
    stale: str = ""


Day = Sequence[Message]


def month(person: str, days: int, messages: int, seed: int) -> list[Day]:
    """Return the days of a person, each with that many messages."""
    draw = random.Random(f"{seed} {person}")
    facts = draw.sample(_facts(person), k=max(1, min(len(_facts(person)), days * messages // FACTS_OF)))
    dated = defaultdict[int, list[Message]](list)
    for at, fact in enumerate(facts):
        first = int(at * days * STATED_SHARE / len(facts))
        for day, message in _course(fact, first, max(1, days // 10)):
            dated[day].append(message)
    tasks, talk = _endless(draw, _tasks(person)), _endless(draw, _talk(LANGUAGES[person]))
    return [_day(draw, dated[day], messages, tasks, talk) for day in range(days)]


def _facts(person: str) -> list[dict[str, Any]]:
    return [fact for fact in _rows("facts") if fact["person"] == person]


def _course(fact: Mapping[str, str], first: int, gap: int) -> Iterator[tuple[int, Message]]:
    """Yield when a fact is told, asked for, corrected and asked for again; nobody tells what stands in the notes."""
    if fact["text"]:
        yield first, Message(FACT, fact["text"], fact["by"])
    yield first + gap, Message(QUESTION, fact["question"], want=((fact["want"],),))
    if "then" in fact:
        asked = Message(CORRECTED, fact["question"], want=((fact["now"],),), stale=fact["stale"])
        yield first + 2 * gap, Message(CORRECTION, fact["then"])
        yield first + 2 * gap + 1, asked
        yield first + 3 * gap, asked


def _tasks(person: str) -> list[Message]:
    rows = (row for row in _rows("tasks") if row["person"] == person)
    return [Message(TASK, row["text"], want=tuple(map(tuple, row["want"]))) for row in rows]


def _talk(language: str) -> list[Message]:
    return [Message(row["kind"], row["text"]) for row in _rows("talk") if row["lang"] == language]


def _day(
    draw: random.Random, dated: Day, messages: int, tasks: Iterator[Message], talk: Iterator[Message]
) -> list[Message]:
    """Return a day in its order: what is stated in its first half, what is asked about facts in the second."""
    others = [next(tasks) for _ in range(max(1, messages // TASKS_OF))]
    others += [next(talk) for _ in range(messages - len(dated) - len(others))]
    draw.shuffle(others)
    half = len(others) // 2
    early, late = others[:half], others[half:]
    for message in dated:
        part = early if message.kind in STATING else late
        part.insert(draw.randint(0, len(part)), message)
    return early + late


def _endless(draw: random.Random, pool: Sequence[Message]) -> Iterator[Message]:
    while True:
        yield from draw.sample(pool, k=len(pool))


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]
