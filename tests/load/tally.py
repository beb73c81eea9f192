"""Counts of answers by kind, their times, and the wrong ones."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from bench.measurement import Row
from bench.timing import percentile

MAX_TOLD = 20
"""Wrong answers that are kept as text; all are counted."""


class Tally:
    """Counts by kind of client; `wrong` has the first wrong answers."""

    def __init__(self) -> None:
        self.took_ms: dict[str, list[float]] = defaultdict(list)
        self.refused: Counter[str] = Counter()
        """By kind and code: answers that mean "not now"."""
        self.ends: Counter[str] = Counter()
        """Outcomes of the badly behaved clients."""
        self.wrong: list[str] = []
        """Answers to well-behaved clients that are wrong or missing."""
        self.wrong_count = 0

    def is_wrong(self, what: str) -> None:
        """Record a wrong answer."""
        self.wrong_count += 1
        if len(self.wrong) < MAX_TOLD:
            self.wrong.append(what)

    @property
    def summary(self) -> list[str]:
        """The wrong answers in one line, or an empty list."""
        return [f"{self.wrong_count} wrong answers: {'; '.join(self.wrong[:5])}"] if self.wrong else []

    @property
    def answers(self) -> int:
        """The number of answered questions of well-behaved clients."""
        return sum(map(len, self.took_ms.values()))

    def rows(self) -> Iterator[Row]:
        """Yield counts and times."""
        for kind, took in sorted(self.took_ms.items()):
            note = f"p50 {percentile(took, 50):.1f} ms, p99 {percentile(took, 99):.1f} ms, longest {max(took):.0f} ms"
            yield Row(f"answers to {kind}", len(took), "", note=note)
        ends = ", ".join(f"{what} {count}" for what, count in sorted(self.ends.items()))
        yield Row("what became of those who do not behave", self.ends.total(), "", note=ends)
