"""What came back: how many answers of each kind, how long they took, and which of them were wrong."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from bench.measurement import Row
from bench.timing import percentile

MAX_TOLD = 20
"""Of wrong answers, by their words; all are counted."""


class Tally:
    """Counts by kind of client; `wrong` and `broken` hold the first of what must not be, in words."""

    def __init__(self) -> None:
        self.took_ms: dict[str, list[float]] = defaultdict(list)
        self.refused: Counter[str] = Counter()
        """By kind and code: answers that say "not now"."""
        self.ends: Counter[str] = Counter()
        """How it ended for those who do not behave."""
        self.wrong: list[str] = []
        """Answers that are not true, or no answers at all to who behaves."""
        self.wrong_count = 0

    def is_wrong(self, what: str) -> None:
        """Take an answer that must not be."""
        self.wrong_count += 1
        if len(self.wrong) < MAX_TOLD:
            self.wrong.append(what)

    @property
    def told(self) -> list[str]:
        """What was wrong, as one line, if anything was."""
        return [f"{self.wrong_count} wrong answers: {'; '.join(self.wrong[:5])}"] if self.wrong else []

    @property
    def answers(self) -> int:
        """How many good questions were answered."""
        return sum(map(len, self.took_ms.values()))

    def rows(self) -> Iterator[Row]:
        """Yield how many there were and how long they took."""
        for kind, took in sorted(self.took_ms.items()):
            note = f"p50 {percentile(took, 50):.1f} ms, p99 {percentile(took, 99):.1f} ms, longest {max(took):.0f} ms"
            yield Row(f"answers to {kind}", len(took), "", note=note)
        ends = ", ".join(f"{what} {count}" for what, count in sorted(self.ends.items()))
        yield Row("what became of those who do not behave", self.ends.total(), "", note=ends)
