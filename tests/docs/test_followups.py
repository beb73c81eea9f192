"""Follow-up questions: sequences find more than single turns, and the page has the measured figures."""

from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from bench.followups.followup_set import followups, said
from bench.followups.measured import Figures, measured
from bench.followups.page import tables
from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import AnswerRetention
from memoryd.domain.sessions.making_turns import make_turn
from memoryd.domain.sessions.turns import Session
from memoryd.search.ranking import commonness

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "conversations.md"


@pytest.fixture(scope="module")
def figures(starter_model: Path) -> Figures:
    return measured(starter_model)


def test_set_matches_its_readme() -> None:
    turns = Counter(session for session, _ in said())
    kinds = Counter((question.kind, question.lang) for question in followups())
    assert len(turns) == 40
    assert {5 <= count <= 9 for count in turns.values()} == {True}
    assert (kinds["paraphrase", "en"], kinds["paraphrase", "zh"]) == (20, 10)
    assert len({question.message for question in followups()}) == 120
    for question in followups():
        assert question.current is None or question.current in turns
        assert (question.current == question.session) == (question.kind in ("here", "filler", "stranger"))
        assert bool(question.gold) == (question.kind != "stranger")
        assert all(session == question.session and 1 <= seq <= turns[session] for session, seq in question.gold)


@pytest.mark.torture
@pytest.mark.parametrize(
    ("baseline", "recall", "whole", "session"),
    [
        ("single", 0.34, 0.28, 0.15),
        ("BM25", 0.29, 0.25, 0.08),
        ("BM25 and answers", 0.18, 0.12, 0.03),
        ("latest", 0.22, 0.15, 0.25),
    ],
)
@pytest.mark.parametrize("group", ["all", "en", "zh", "even"])
def test_sequences_beat_each_baseline(
    figures: Figures, group: str, baseline: str, recall: float, whole: float, session: float
) -> None:
    """By a little less than the measured margin, in both languages and on the half not used for tuning."""
    sequence, other = figures[group]["sequence"], figures[group][baseline]
    assert sequence.recall >= other.recall + recall
    assert sequence.whole >= other.whole + whole
    assert sequence.session >= other.session + session
    assert sequence.precision >= other.precision


@pytest.mark.torture
def test_paraphrases_need_vectors_and_fillers_do_not(figures: Figures) -> None:
    assert figures["all"]["sequence"].right >= 0.8
    assert figures["paraphrase en"]["sequence"].right >= 0.7
    assert figures["paraphrase en"]["words"].right == 0
    assert figures["filler"]["words"].right == figures["filler"]["sequence"].right == 1


@pytest.mark.torture
def test_page_has_the_figures(figures: Figures) -> None:
    """To the last digit, as they are the same in each run."""
    assert tables(figures) in PAGE.read_text(encoding="utf-8")


def test_significant_answers_of_everyday_conversations_are_stored() -> None:
    """Four of ten short answers, as the page says, and no merely polite ones."""
    sessions: dict[str, Session] = {}
    for name, raw in said():
        session = sessions.setdefault(name, Session(SessionId(name), raw.timestamp))
        turn = make_turn(raw, session, answer_retention=AnswerRetention(), commonness=commonness).turn
        sessions[name] = replace(session, turns=(*session.turns, turn))
    kept = [turn.answer for session in sessions.values() for turn in session.turns if turn.answer]
    assert 0.35 <= len(kept) / 254 <= 0.50
    assert not {"You're welcome.", "Good morning!", "不客气。", "Then all is well."} & set(kept)
