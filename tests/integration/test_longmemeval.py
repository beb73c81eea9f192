"""A file in the format of LongMemEval becomes a question set, and invalid files are refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.retrieval.longmemeval import longmemeval_set
from bench.retrieval.sets import BadQuestionSet

HONEY: list[dict[str, Any]] = [
    {"role": "user", "content": "Where can I buy honey?"},
    {"role": "assistant", "content": "# Honey\n\nAt the market.\n---\nOn Fridays.", "has_answer": True},
    {"role": "user", "content": "Thank you."},
]
TEA = [{"role": "user", "content": "Which tea is green?"}, {"role": "assistant", "content": "Sencha."}]


def row(name: str = "e47becba", **changes: object) -> dict[str, Any]:
    return {
        "question_id": name,
        "question_type": "single-session-assistant",
        "question": "Where is honey sold?",
        "answer": "At the market, on Fridays.",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["ultrachat_1", "answer_2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/20 (Sat) 02:57"],
        "haystack_sessions": [TEA, HONEY],
        "answer_session_ids": ["answer_2"],
    } | changes


def written(folder: Path, rows: object) -> Path:
    path = folder / "longmemeval_s.json"
    path.write_text(json.dumps(rows))
    return path


def test_question_has_history_and_marked_turns_as_evidence(tmp_path: Path) -> None:
    unmarked = [{key: value for key, value in turn.items() if key != "has_answer"} for turn in HONEY]
    rows = [row(), row("0a1b_abs"), row("7c2d", haystack_sessions=[TEA, unmarked])]
    found = longmemeval_set(written(tmp_path, rows), tmp_path / "sets", 10)
    first, stranger, whole = found.questions
    assert (first.text, first.category, first.workspace) == ("Where is honey sold?", row()["question_type"], "e47becba")
    ((place,),) = [evidence.places for evidence in first.evidence]
    note = found.workspace("e47becba") / place.path
    lines = note.read_text().split("\n")[place.start - 1 : place.end]
    assert lines == ["Assistant: # Honey", "", "At the market.", "---", "On Fridays."]
    assert stranger.is_stranger
    ((place,),) = [evidence.places for evidence in whole.evidence]
    assert (place.start, place.count) == (1, len(note.read_text().split("\n")))
    # the id of a session would reveal which one has the answer
    names = [path.name for path in sorted(note.parent.iterdir())]
    assert names == ["2023-05-20-001.md", "2023-05-20-002.md"]
    assert "answer_2" not in note.read_text()


def test_sample_of_questions_is_spread_and_reproducible(tmp_path: Path) -> None:
    file = written(tmp_path, [row(f"q{at}") for at in range(100)])
    found = [longmemeval_set(file, tmp_path / "sets", 4) for _ in range(2)]
    for one in found:
        assert [question.id for question in one.questions] == ["q0", "q25", "q50", "q75"]
    assert found[0].folder == found[1].folder


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("no json", "this is no LongMemEval file"),
        ([1], "this is no LongMemEval file"),
        ([{"question_id": "a"}], "haystack_session_ids"),
        ([row("../../outside")], "is no id"),
        ([row(haystack_dates=["yesterday", "today"])], "'yesterday' is no date"),
        ([row(haystack_sessions=[TEA])], "this is no LongMemEval file"),
        ([row(haystack_sessions=[TEA, [{"role": "system", "content": "x"}]])], "'system'"),
        ([], "this is no LongMemEval file"),
    ],
    ids=["text", "number", "missing", "path", "date", "short", "role", "empty"],
)
def test_invalid_file_is_refused_with_reason(tmp_path: Path, rows: object, said: str) -> None:
    with pytest.raises(BadQuestionSet, match=said):
        assert longmemeval_set(written(tmp_path, rows), tmp_path / "sets", 10).questions
    assert not (tmp_path / "outside").exists()


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadQuestionSet, match=r"none\.json"):
        longmemeval_set(tmp_path / "none.json", tmp_path / "sets", 10)
