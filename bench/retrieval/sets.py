"""Question sets on disk: `SET/ws/WORKSPACE/` and `SET/queries.jsonl` with the lines that hold each answer."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Lines:
    """A place in a document; lines are 1-based and inclusive."""

    path: str
    start: int
    end: int

    def overlaps(self, other: "Lines") -> bool:
        return self.path == other.path and self.start <= other.end and other.start <= self.end


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that an answer needs; any of the places will do."""

    weight: float
    places: tuple[Lines, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with all the evidence that it asks for."""

    id: str
    workspace: str
    text: str
    category: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A named set below a folder."""

    name: str
    folder: Path

    def questions(self) -> list[Question]:
        """Return the questions that have an answer."""
        with (self.folder / "queries.jsonl").open(encoding="utf-8") as file:
            found = [_question(json.loads(line)) for line in file if line.strip()]
        return [question for question in found if question.evidence]

    def workspace(self, name: str) -> Path:
        return self.folder / "ws" / name


def question_sets(folder: Path, names: Sequence[str]) -> Iterator[QuestionSet]:
    """Yield the sets in the folder, those named or all."""
    for path in sorted(folder.iterdir()):
        if (path / "queries.jsonl").is_file() and (not names or path.name in names):
            yield QuestionSet(path.name, path)


def _question(row: dict[str, object]) -> Question:
    gold = row["gold"]
    assert isinstance(gold, list)
    return Question(
        id=str(row["qid"]),
        workspace=str(row["workspace"]),
        text=str(row["question"]),
        category=str(row["category"]),
        evidence=tuple(
            Evidence(
                float(group.get("weight", 1)),
                tuple(Lines(place["path"], place["start_line"], place["end_line"]) for place in group["any"]),
            )
            for group in gold
        ),
    )
