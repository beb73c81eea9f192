"""What an answer is worth, held against the gold of its question."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.recall_questions.question_set import Place, RecallQuestion

DEPTH = 10
"""Items that are asked for."""


@dataclass(frozen=True, slots=True)
class Cited:
    """Lines of a file, from 1 and inclusive."""

    path: str
    first: int
    last: int

    def holds(self, place: Place) -> bool:
        """Tell whether one of the lines is the place, or of it."""
        if self.path != place.path:
            return False
        lines = place.numbers()
        return self.first < lines.stop and lines.start <= self.last


@dataclass(frozen=True, slots=True)
class Told:
    """An item of an answer: where it stands, in each of its sources, and what is said of it."""

    sources: tuple[Cited, ...]
    content: str
    is_page: bool = False
    """Whether it is the page of an entity, which stands before all memories."""
    confidence: float | None = None
    evidence: int = 0

    def holds(self, places: Sequence[Place]) -> bool:
        """Tell whether it stands at one of the places."""
        return any(cited.holds(place) for cited in self.sources for place in places)

    @property
    def cited(self) -> Cited:
        """Where it is cited."""
        return self.sources[0]


@dataclass(frozen=True, slots=True)
class Answered:
    """The items of an answer, best first, with its verdict."""

    items: tuple[Told, ...]
    verdict: str

    def place(self, places: Sequence[Place]) -> int:
        """Return the place, from 1, of the first item that stands there; 0 if none does."""
        return next((at for at, item in enumerate(self.items, 1) if item.holds(places)), 0)


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with its answer, and for a fact that changed with the answer of the day on which it was another.

    Pages of entities that a question names stand before all else, so they count where an entity is asked for alone.
    """

    question: RecallQuestion
    answer: Answered
    then: Answered | None = None

    @property
    def place(self) -> int:
        """Where the right citation comes, from 1; 0 if it does not."""
        return Answered(self.ranked(self.answer), "").place(self.question.gold)

    def ranked(self, answer: Answered) -> tuple[Told, ...]:
        """Return the items of an answer that count."""
        return tuple(one for one in answer.items if self.question.type == "entity" or not one.is_page)

    @property
    def is_first(self) -> bool:
        """Whether the first item is cited by the right line, not by an earlier source of the same."""
        found = self.ranked(self.answer)
        return bool(found) and any(found[0].cited.holds(place) for place in self.question.gold)

    @property
    def is_old_first(self) -> bool:
        """Whether on the day of the old value that one comes first."""
        change, then = self.question.change, self.ranked(self.then) if self.then else ()
        return bool(change and then and then[0].cited.holds(change.old))

    @property
    def tells_never(self) -> bool:
        """Whether something is told that must not be."""
        return self.answer.place(self.question.never) > 0

    @property
    def lacks(self) -> list[str]:
        """What is missing of the belief that answers."""
        gold = self.question.gold
        belief = next((one for one in self.answer.items if one.holds(gold) and one.confidence is not None), None)
        wanted = {
            "confidence": self.question.has_confidence and belief is None,
            "evidence": self.question.has_evidence and (belief is None or not belief.evidence),
        }
        return [name for name, is_missing in wanted.items() if is_missing]


@dataclass(frozen=True, slots=True)
class RecallFigures:
    """Of some questions: shares from 0 to 1 that have the right citation first, in three, at all; of items; verdicts.

    `of_five` is the mean share of the first five items that are right; `old` is about facts that changed, else None.
    """

    questions: int
    first: float
    three: float
    found: float
    of_five: float
    old: float | None
    believed: float | None
    told_never: int
    answerable: int
    weak: int
    none: int


def figures(judged: Sequence[Judged]) -> RecallFigures:
    """Return the figures of questions; shares are 0 where nothing answers any of them."""
    sought = [one for one in judged if one.question.gold]
    changed = [one.is_old_first for one in judged if one.question.change]
    believed = [not one.lacks for one in judged if one.question.has_confidence]
    verdicts = [one.answer.verdict for one in judged]
    return RecallFigures(
        questions=len(judged),
        first=_mean(one.is_first for one in sought),
        three=_mean(1 <= one.place <= 3 for one in sought),
        found=_mean(one.place > 0 for one in sought),
        of_five=_mean(_share(one) for one in sought),
        old=_mean(changed) if changed else None,
        believed=_mean(believed) if believed else None,
        told_never=sum(one.tells_never for one in judged),
        answerable=verdicts.count("answerable"),
        weak=verdicts.count("weak"),
        none=verdicts.count("none"),
    )


def by_type(judged: Sequence[Judged]) -> dict[str, RecallFigures]:
    """Return the figures of each type, in order of the set, and of each type in each language."""
    return {name: figures(one) for name, one in _groups(judged, lambda one: one.question.type).items()} | {
        name: figures(one)
        for name, one in _groups(judged, lambda one: f"{one.question.type} {one.question.lang}").items()
    }


def _groups(judged: Sequence[Judged], name_of: Callable[[Judged], str]) -> dict[str, list[Judged]]:
    found: dict[str, list[Judged]] = {}
    for one in judged:
        found.setdefault(name_of(one), []).append(one)
    return found


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return fmean(found) if found else 0.0


def _share(one: Judged) -> float:
    five = one.ranked(one.answer)[:5]
    return _mean(item.holds(one.question.gold) for item in five)
