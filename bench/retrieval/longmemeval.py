"""LongMemEval-S as a question set: each question has a workspace of its own, and each session of its history a note.

Format: the README of github.com/xiaowu0162/LongMemEval. Turns that are marked `has_answer` are the evidence, of a
session without one all of it; questions whose id ends with `_abs` are strangers.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.retrieval.sets import BadQuestionSet, QuestionSet

SPEAKERS = {"user": "User", "assistant": "Assistant"}
_ID = re.compile(r"[\w-]+")
_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2})\b")

Watch = Callable[[Sequence[Any]], Iterable[Any]]
"""Follows the questions as they are written."""


def longmemeval_set(file: Path, folder: Path, limit: int, watch: Watch = iter) -> QuestionSet:
    """Return the set made of a file, written below `folder` once; of more than `limit` questions it has every so many.

    Raises BadQuestionSet where the file is none of this format.
    """
    try:
        name = f"{file.stem}-{limit}"
        place = folder / f"{name}-{file.stat().st_size}"
        if not (place / "queries.jsonl").exists():
            rows = [_written(row, place / "ws") for row in watch(_chosen(json.loads(file.read_bytes()), limit))]
            # last: a set without it is written again
            (place / "queries.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as exc:
        raise BadQuestionSet(f"{file}: this is no LongMemEval file: {type(exc).__name__}: {exc}") from exc
    return QuestionSet(name, place)


def _chosen(rows: Sequence[Any], limit: int) -> Sequence[Any]:
    # the kinds of questions stand one behind the other
    return [rows[at * len(rows) // limit] for at in range(limit)] if len(rows) > limit else rows


def _written(row: dict[str, Any], workspaces: Path) -> dict[str, object]:
    """Write the workspace of a question and return its line of the set."""
    name = row["question_id"]
    if not _ID.fullmatch(name):
        raise ValueError(f"{name!r} is no id")
    memory = workspaces / name / "memory"
    memory.mkdir(parents=True, exist_ok=True)
    gold = []
    sessions = zip(row["haystack_session_ids"], row["haystack_dates"], row["haystack_sessions"], strict=True)
    for number, (session, date, turns) in enumerate(sessions, 1):
        day = _DATE.match(date)
        if day is None:
            raise ValueError(f"{date!r} is no date")
        # not by the id of the session: it says which one has the answer
        path = memory / f"{'-'.join(day.groups())}-{number:03}.md"
        lines, marked = _note(date, turns)
        path.write_text("\n".join(lines), "utf-8")
        if session in row["answer_session_ids"] and not name.endswith("_abs"):
            places = marked or [(1, len(lines))]
            ends = [{"path": f"memory/{path.name}", "start_line": first, "end_line": last} for first, last in places]
            gold.append({"id": session, "any": ends})
    kind = row["question_type"]
    return {"qid": name, "workspace": name, "question": row["question"], "category": kind, "lang": "en", "gold": gold}


def _note(date: str, turns: Sequence[dict[str, Any]]) -> tuple[list[str], list[tuple[int, int]]]:
    """Return the lines of a session, and the first and last of each turn that is marked, from 1."""
    lines, marked = [f"# {date}", ""], list[tuple[int, int]]()
    for turn in turns:
        begun = len(lines) + 1
        lines += f"{SPEAKERS[turn['role']]}: {turn['content']}".replace("\r", "").split("\n")
        if turn.get("has_answer"):
            marked.append((begun, len(lines)))
        lines.append("")
    return lines, marked
