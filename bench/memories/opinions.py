"""What it takes to say what 10,000 memories mean for 500 opinions, and whether twice as many take twice as long."""

import random
from collections.abc import Iterator
from datetime import date, timedelta
from functools import partial
from itertools import product

from bench.measurement import Aim, Bench, Row
from bench.timing import ProcessorWatch
from memoryd.domain.memories.book import Book, MemorySource, book_of
from memoryd.domain.memories.kinds import Kind, short_id
from memoryd.domain.memories.line import Attributes, RetainedLine
from memoryd.domain.memories.reflect.evidence import OpinionLabels
from memoryd.domain.memories.reflect.opinions import plan_steps

PLANNED, TWICE = Aim(1.0), Aim(3.0)
ENTITIES, DAYS = 40, 700
BEGAN = date(2024, 1, 1)
_HEADS = ("ka", "lo", "mi", "tes", "ran", "vor", "pel", "sun", "dor", "fie")
_ENDS = ("ton", "bar", "mil", "des", "fir", "gon", "lat", "res", "sol", "vin")
_WORDS = [f"{head}{middle}{end}" for head, middle, end in product(_HEADS, _ENDS, _ENDS)]
_WEIGHTS = [1 / place for place in range(1, len(_WORDS) + 1)]
_NEGATIONS = ("", "", "", "does not ", "never ")


def rows(bench: Bench) -> Iterator[Row]:
    """Label and plan for one book, then for one of twice the size; words are as unevenly common as real ones."""
    memories = bench.pick(10_000, 2_000)
    once, note = _planned(memories)
    yield Row("labels, doubts and steps", once, "s", PLANNED, note)
    twice, _ = _planned(2 * memories)
    yield Row("of twice as many", twice / once, "times", TWICE)


def _planned(memories: int) -> tuple[float, str]:
    """Return the seconds of processor time of the best of three, and what came of it."""
    opinions, seconds = memories // 20, float("inf")
    world = _book(memories, opinions)
    for _ in range(3):
        watch = ProcessorWatch()
        labels = OpinionLabels(world)
        steps = plan_steps(world, labels.stated, (), run="bench")
        doubted = labels.contradictions
        seconds = min(seconds, watch.seconds)
    return seconds, f"{memories:,} memories, {opinions:,} opinions: {len(steps):,} steps, {len(doubted):,} doubts"


def _book(memories: int, opinions: int) -> Book:
    chance = random.Random(memories)
    day = partial(_day, memories)
    believed = [_line(chance, Kind.OPINION) for _ in range(opinions)]
    others = [_evidence(chance, believed) for _ in range(memories - opinions)]
    lines = [*believed, *others]
    return book_of(
        MemorySource(f"memory/{day(number)}.md", number, number, line, day(number), None, number)
        for number, line in enumerate(lines)
    )


def _day(memories: int, number: int) -> date:
    return BEGAN + timedelta(number * DAYS // memories)


def _line(chance: random.Random, kind: Kind, attributes: Attributes | None = None) -> RetainedLine:
    said = " ".join(chance.choices(_WORDS, weights=_WEIGHTS, k=chance.randint(5, 16)))
    # half of all is about a few whom everything is about
    number = chance.randrange(5 if chance.random() < 0.5 else ENTITIES)
    return RetainedLine(kind, chance.choice(_NEGATIONS) + said, (f"Entity {number}",), attributes or Attributes())


def _evidence(chance: random.Random, believed: list[RetainedLine]) -> RetainedLine:
    """Return a memory: one of ten says what it supports, one of ten says an opinion again, or that it is not so."""
    opinion, share = chance.choice(believed), chance.random()
    if share < 0.1:
        return _line(chance, Kind.EXPERIENCE, Attributes(supports=(short_id(opinion.id),)))
    if share < 0.2:
        negated = "" if share < 0.15 else "no longer "
        return RetainedLine(Kind.OPINION, f"{negated}{opinion.text}.", opinion.entities)
    return _line(chance, Kind.WORLD)
