"""`python -m bench.significance`: weigh labelled answers, and print how many are kept or dropped as they should be.

`dev.jsonl` is there to tune rules on, `held.jsonl` to judge them: 60 answers each, half of them Chinese, of which 20
are clear, 20 middling, and 20 tricky: short ones that matter, and long or detailed ones that do not.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct
from rich.console import Console
from rich.table import Table

from memoryd.domain.sessions.documents import THRESHOLD
from memoryd.domain.sessions.making_turns import answer_words
from memoryd.domain.sessions.significance import SignificanceParts, significance_parts
from memoryd.domain.sessions.topics import keywords, topics
from memoryd.search.ranking import commonness

FOLDER: Final = Path(__file__).parent
SETS: Final = ("dev", "held")
COLUMNS: Final = ("all", "clear", "middling", "tricky", "keep", "drop", "en", "zh")


class LabelledAnswer(Struct, frozen=True):
    """An answer with what a person says of it: `label` is keep or drop, `kind` how hard that is to tell."""

    question: str
    answer: str
    label: str
    kind: str
    lang: str

    @property
    def groups(self) -> tuple[str, ...]:
        return "all", self.kind, self.label, self.lang


class WeighedAnswer(Struct, frozen=True):
    """A labelled answer with its parts."""

    labelled: LabelledAnswer
    parts: SignificanceParts

    @property
    def is_right(self) -> bool:
        """Whether it is kept, or dropped, as it should be."""
        return (self.parts.significance > THRESHOLD) == (self.labelled.label == "keep")


def weighed(name: str) -> list[WeighedAnswer]:
    """Return the answers of a set, each as the first of its session."""
    return [WeighedAnswer(one, _parts(one)) for one in _labelled(FOLDER / f"{name}.jsonl")]


def right(answers: Sequence[WeighedAnswer]) -> dict[str, tuple[int, int]]:
    """Return for each group how many are right, and how many there are."""
    groups = {group: [one for one in answers if group in one.labelled.groups] for group in COLUMNS}
    return {group: (sum(one.is_right for one in own), len(own)) for group, own in groups.items()}


def _labelled(path: Path) -> Iterator[LabelledAnswer]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield LabelledAnswer(**json.loads(line))


def _parts(one: LabelledAnswer) -> SignificanceParts:
    tags = topics(one.question, one.answer, keywords(one.question, commonness))
    words = answer_words(one.answer, commonness)
    return significance_parts(one.question, one.answer, answer_words=words, topics=tags)


@click.command()
@click.option("--json", "path", type=click.Path(path_type=Path), help="Also write all figures here.")
@click.option("--misses", is_flag=True, help="Also show what is not right of the tuned set.")
def main(path: Path | None, misses: bool) -> None:
    """Weigh the labelled answers of bench/significance and print how many are kept or dropped as they should be."""
    answers = {name: weighed(name) for name in SETS}
    console = Console()
    console.print(_table(answers))
    if misses:
        for one in answers[SETS[0]]:
            if not one.is_right:
                told: dict[str, Any] = {"significance": one.parts.significance, "answer": one.labelled.answer}
                console.print(f"{one.labelled.label} {one.labelled.kind}: {told}", highlight=False)
    if path:
        path.write_text(json.dumps({name: right(own) for name, own in answers.items()}, indent=2) + "\n", "utf-8")


def _table(answers: dict[str, list[WeighedAnswer]]) -> Table:
    table = Table("set", *COLUMNS)
    for name, own in answers.items():
        figures = right(own)
        table.add_row(name, *(f"{count} of {all_of_them}" for count, all_of_them in figures.values()))
    return table


if __name__ == "__main__":
    main()
