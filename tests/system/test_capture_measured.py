"""What the real daemon captures from labelled conversations, by rules and by a text model; echoes are not captured."""

from collections.abc import Iterator

import pytest

from bench.capture_turns.page import MODEL, PAGE, RULES, rows
from bench.capture_turns.scoring import SETS, CaptureScore
from bench.capture_turns.scripted_text_model import INVENTED, ScriptedTextModel
from bench.capture_turns.talking import kept_memories, key_of, listening, measured_by, pending_captures
from tests.contract.served_chat import served
from tests.daemon import RunningDaemon
from tests.waiting import eventually

Measured = tuple[RunningDaemon, dict[str, CaptureScore]]

QUOTED = {
    "Which tables do I like in answers?": (
        "I prefer answers without tables.",
        "As you told me, {0}",
        "Yes, {0} So keep that in mind.",
    ),
    "Where do I live now, in Graz?": ("I live in Graz now.", "{0}", "Like you said, {0}"),
    "我对花生过敏吗?": ("我对花生过敏。", "你说过,{0}", "就像你说的,{0}"),
    "帮我填一下成都那张表,我叫什么来着?": ("我叫林小雨,在成都。", "{0}", "没错,{0}"),
}
"""Memories by the question that each answers, and how the user quotes them."""


@pytest.fixture(scope="module")
def by_rules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    with listening(tmp_path_factory.mktemp("rules")) as running:
        yield running, measured_by(running)


@pytest.fixture(scope="module")
def by_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Measured, ScriptedTextModel]]:
    model = ScriptedTextModel()
    with (
        served(model.server) as server,
        listening(
            tmp_path_factory.mktemp("model"), llm={"provider": "openai", "model": "m-1", "baseUrl": server.url}
        ) as running,
    ):
        yield (running, measured_by(running, model.hears)), model


def test_nine_of_ten_memories_are_right_and_match_the_page(by_rules: Measured) -> None:
    _, scores = by_rules

    assert all(score.precision >= 0.9 and score.recall >= 0.8 for score in scores.values())
    assert rows(RULES, scores) in PAGE.read_text("utf-8")


@pytest.mark.torture
def test_scripted_model_finds_more_and_its_errors_are_dropped(
    by_model: tuple[Measured, ScriptedTextModel], by_rules: Measured
) -> None:
    (running, scores), model = by_model
    texts = [memory.text for name in SETS for memory in kept_memories(running.home / name)]

    assert all(model.said.values()), "every kind of bad answer was used"
    assert model.wrong.issuperset(INVENTED)
    assert model.wrong.isdisjoint(texts)
    assert all(score.precision >= 0.9 for score in scores.values())
    assert all(scores[name].recall >= one.recall for name, one in by_rules[1].items())
    assert rows(MODEL, scores) in PAGE.read_text("utf-8")


def test_ten_rounds_of_recall_and_answer_capture_no_echo(by_rules: Measured) -> None:
    running, _ = by_rules
    agent = next(iter(SETS))
    client, key = running.client(), key_of(agent)
    client.sync(wait="indexed")
    before = kept_memories(running.home / agent)
    rounds = [list(QUOTED.items())[number % len(QUOTED)] for number in range(10)]
    for number, (question, (memory, *ways)) in enumerate(rounds):
        # each round on its own day: a new statement would be stored again on another day
        day = f"2026-01-{number + 1:02}T12:0"
        bundle = client.turn(question, session_key=key, at=f"{day}0:00Z")["bundle"]
        assert memory in str(bundle)
        client.turn(f"I know: {memory}", role="assistant", session_key=key, at=f"{day}1:00Z")
        for minute, way in enumerate(("{0}", *ways), start=2):
            client.turn(way.format(memory), session_key=key, at=f"{day}{minute}:00Z")
    first, second = (QUOTED[question][0] for question in list(QUOTED)[:2])
    combined = (f"{first.rstrip('.')}, and {second}", f"So {second.rstrip('.')}, and {first} Thanks.")
    for minute, text in enumerate((*combined, f"Remember that {first}"), start=10):
        client.turn(text, session_key=key, at=f"2026-01-11T12:{minute}:00Z")
    eventually(lambda: not pending_captures(client, agent))

    assert kept_memories(running.home / agent) == before
