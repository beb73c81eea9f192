"""Question sets on disk: `SET/ws/WORKSPACE/` and `SET/queries.jsonl` with the lines that hold each answer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import click

from memoryd.domain.ranking.golden import LineSpan

Sizes = Mapping[str, Sequence[int]]
"""Of each document of a workspace, the characters of each line."""


class BadQuestionSet(click.ClickException):
    """A set that cannot be asked; the text names the file and the line."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that an answer needs; any of the places will do."""

    weight: float
    places: tuple[LineSpan, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with all the evidence that it asks for; a stranger has none: nothing in the workspace answers it."""

    id: str
    workspace: str
    text: str
    category: str
    language: str
    evidence: tuple[Evidence, ...]

    @property
    def is_stranger(self) -> bool:
        return not self.evidence


@dataclass(frozen=True)
class QuestionSet:
    """A named set below a folder."""

    name: str
    folder: Path

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The questions; raises BadQuestionSet where one cannot be understood or its answer cannot be there."""
        path = self.folder / "queries.jsonl"
        try:
            lines = path.read_text("utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as exc:
            raise BadQuestionSet(f"{path}: cannot be read: {exc}") from exc
        found = [self._question(f"{path}:{number}", line) for number, line in enumerate(lines, 1) if line.strip()]
        if not found:
            raise BadQuestionSet(f"{path}: there are no questions")
        return tuple(found)

    @cached_property
    def workspaces(self) -> tuple[str, ...]:
        """The names of the workspaces, in the order of the questions."""
        return tuple(dict.fromkeys(question.workspace for question in self.questions))

    def workspace(self, name: str) -> Path:
        """Return the folder of a workspace."""
        return self.folder / "ws" / name

    def sizes(self, workspace: str) -> Sizes:
        """Return the sizes of the documents of a workspace; raises BadQuestionSet where one cannot be read."""
        if workspace not in self._sizes:
            self._sizes[workspace] = _sizes(self.workspace(workspace))
        return self._sizes[workspace]

    @cached_property
    def _sizes(self) -> dict[str, Sizes]:
        return {}

    def _question(self, where: str, line: str) -> Question:
        try:
            question = _question(json.loads(line))
        except KeyError as exc:
            raise BadQuestionSet(f"{where}: {exc.args[0]!r} is missing") from exc
        except (ValueError, TypeError, AttributeError) as exc:
            raise BadQuestionSet(f"{where}: this is not a question: {exc}") from exc
        if not self.workspace(question.workspace).is_dir():
            raise BadQuestionSet(f"{where}: there is no workspace {question.workspace!r}")
        sizes = self.sizes(question.workspace)
        for place in (place for evidence in question.evidence for place in evidence.places):
            if not 1 <= place.start <= place.end <= len(sizes.get(place.path, ())):
                raise BadQuestionSet(f"{where}: there are no lines {place.start} to {place.end} in {place.path!r}")
        return question


def question_sets(folders: Sequence[Path], names: Sequence[str]) -> Iterator[QuestionSet]:
    """Yield the sets in the folders, those named or all; of two of one name the later.

    Raises BadQuestionSet for a folder that is none, and for a name that no set has.
    """
    found: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise BadQuestionSet(f"{folder}: there is no folder of question sets")
        found |= {path.name: path for path in folder.iterdir() if (path / "queries.jsonl").is_file()}
    if unknown := [name for name in names if name not in found]:
        raise BadQuestionSet(f"there is no set {unknown[0]!r}; there are: {', '.join(sorted(found)) or 'none'}")
    yield from (QuestionSet(name, found[name]) for name in sorted(found) if not names or name in names)


def _question(row: dict[str, object]) -> Question:
    gold = row["gold"]
    if not isinstance(gold, list):
        raise TypeError("`gold` must be a list; it is empty where nothing answers")
    return Question(
        id=str(row["qid"]),
        workspace=str(row["workspace"]),
        text=str(row["question"]),
        category=str(row["category"]),
        language=str(row.get("lang", "")),
        evidence=tuple(
            Evidence(
                float(group.get("weight", 1)),
                tuple(
                    LineSpan(str(place["path"]), int(place["start_line"]), int(place["end_line"]))
                    for place in group["any"]
                ),
            )
            for group in gold
        ),
    )


def _sizes(workspace: Path) -> Sizes:
    try:
        return {
            path.relative_to(workspace).as_posix(): [len(line) + 1 for line in path.read_text("utf-8").split("\n")]
            for path in sorted(workspace.rglob("*.md"))
        }
    except (OSError, UnicodeDecodeError) as exc:
        raise BadQuestionSet(f"{workspace}: a note cannot be read: {exc}") from exc
