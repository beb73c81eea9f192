"""What many answers come to: the means of their scores, and counts of what they were worth."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bench.retrieval.scores import Focused, Scores, Shown, focused, mean, score
from bench.retrieval.sets import Question, Sizes

VERDICTS = ("answerable", "weak", "none")
ALL = "all"
STRANGERS = "strangers"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the daemon said to a question."""

    hits: tuple[Shown, ...]
    verdict: str


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer held against the evidence; a stranger has no scores."""

    question: Question
    answer: Answer
    scores: Scores | None
    focus: Focused


@dataclass(frozen=True, slots=True)
class Figures:
    """Of some questions: `scores` are means, None for strangers; `verdicts` and `empty` are counts."""

    questions: int
    scores: Scores | None
    focus: Focused
    verdicts: dict[str, int]
    empty: int

    def measures(self) -> dict[str, float]:
        """Return each figure by its name; what there is none of is left out."""
        scores = self.scores
        named: dict[str, float | None] = {"questions": self.questions}
        named |= {name: getattr(scores, name) for name in Scores.__dataclass_fields__} if scores else {}
        named |= {"focus_coverage": self.focus.coverage, "focus_lines": self.focus.mean_lines}
        named |= {**self.verdicts, "empty": self.empty}
        return {name: round(value, 4) for name, value in named.items() if value is not None}


def judge(question: Question, answer: Answer, sizes: Sizes) -> Judged:
    """Hold an answer against the evidence."""
    scores = None if question.is_stranger else score(question, answer.hits, sizes)
    return Judged(question, answer, scores, focused(question, answer.hits))


def figures(judged: Sequence[Judged]) -> Figures:
    """Return what these answers come to; the scores are of those that have evidence."""
    scores = [row.scores for row in judged if row.scores is not None]
    counted = Counter(row.answer.verdict for row in judged)
    return Figures(
        questions=len(judged),
        scores=mean(scores) if scores else None,
        focus=sum((row.focus for row in judged), Focused()),
        verdicts={verdict: counted[verdict] for verdict in VERDICTS},
        empty=sum(not row.answer.hits for row in judged),
    )


def by_category(judged: Sequence[Judged]) -> dict[str, Figures]:
    """Return the figures of all that have evidence, of each category of them, and of the strangers.

    A category with questions in several languages has figures for each, and so have the strangers.
    """
    groups: dict[str, list[Judged]] = {ALL: []}
    languages: dict[str, set[str]] = {}
    for row in judged:
        languages.setdefault(_category(row.question), set()).add(row.question.language)
    for row in judged:
        category = _category(row.question)
        several = len(languages[category]) > 1
        names = {
            STRANGERS if row.question.is_stranger else ALL,
            f"{category} {row.question.language}" if several else category,
        }
        for name in names:
            groups.setdefault(name, []).append(row)
    return {name: figures(rows) for name, rows in groups.items() if rows}


def _category(question: Question) -> str:
    return STRANGERS if question.is_stranger else question.category
