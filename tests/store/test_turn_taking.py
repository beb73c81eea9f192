"""Storing the turns of transcripts: each turn is taken once, whatever happens in between."""

import asyncio
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.making_turns import RawTurn, TranscriptTurn, place_of, read_turns, transcript_session
from memoryd.errors import Denied
from memoryd.sessions import turn_taking
from memoryd.sessions.qa_store import QaStore
from memoryd.sessions.session_turns import PlaceMovedError, SessionTurns
from memoryd.sessions.transcripts.folders import AgentTranscripts, TranscriptFile, find_transcripts
from memoryd.sessions.turn_taking import TurnTaking
from tests.store.rows import bytes_in
from tests.sweeps import whole_or
from tests.transcripts_written import DAY, EVENT, answered, append, asked

Result = TypeVar("Result")
NAME = "s1.jsonl"
SESSION = transcript_session("main", NAME)


class Access:
    """A store without threads."""

    def __init__(self, store: QaStore) -> None:
        self.store = store

    async def read(self, step: Callable[[QaStore], Result]) -> Result:
        return step(self.store)

    async def write(self, step: Callable[[QaStore], Result]) -> Result:
        return step(self.store)


class Taking:
    """One agent whose transcripts are taken into a workspace."""

    def __init__(self, folder: Path, agent: str = "main") -> None:
        self.workspace, self.source = folder / "workspace", folder / "transcripts"
        self.workspace.mkdir(exist_ok=True)
        self.source.mkdir(exist_ok=True)
        self.agent = agent
        self.path = self.source / NAME
        self.held: list[tuple[SessionId, int, str]] = []
        self.withheld: set[str] = set()
        self.idle = 0.0
        self.start()

    def start(self) -> None:
        """Start as a new process does."""
        self.store = QaStore(self.workspace)
        self.store.sessions.open()
        self.taking = TurnTaking(
            agent=self.agent,
            look=self._look,
            store=Access(self.store),
            store_answer=self._hold,
            now=lambda: self.path.stat().st_mtime + self.idle,
        )

    def _look(self) -> AgentTranscripts:
        found = find_transcripts(self.source)
        files = (TranscriptFile(name, self.source / name, stat) for name, stat in found.files.items())
        return AgentTranscripts(tuple(files), found.problem, self.withheld.__contains__)

    async def _hold(self, session: SessionId, seq: int, answer: str) -> None:
        self.held.append((session, seq, answer))

    def round(self) -> None:
        asyncio.run(self.taking.round())

    def turns(self) -> list[tuple[int, str, str | None]]:
        """Return what the session of the transcript holds."""
        session = self.store.sessions.read(SESSION, agent=self.agent)
        return [(turn.seq, turn.question, turn.answer) for turn in session.turns]

    def questions(self) -> list[str]:
        return [question for _, question, _ in self.turns()]

    def all_files(self) -> dict[str, bytes]:
        return bytes_in(self.workspace)


KEPT = "Set `retry: 3` in config.json5 and run `make deploy`, because the gateway drops the lease; then check the log."


def test_question_gets_all_answers_before_the_next_question(tmp_path: Path) -> None:
    taking = Taking(tmp_path)
    taking.path.write_bytes(answered("Hello.") + asked("How do I deploy?") + EVENT + answered(KEPT))
    append(taking.path, answered("And wait."), asked("Why?", DAY + timedelta(minutes=3)))
    taking.round()
    session = taking.store.sessions.read(SESSION, agent="main")
    assert [(turn.seq, turn.question) for turn in session.turns] == [(1, "How do I deploy?")]
    assert session.turns[0].timestamp == DAY
    answer = session.turns[0].answer or taking.held[0][2]
    assert answer == f"{KEPT} And wait."
    assert (session.agent, session.key) == ("main", "transcript:s1.jsonl")
    append(taking.path, asked("Where?", DAY + timedelta(minutes=4)))
    taking.round()
    assert taking.turns()[1:] == [(2, "Why?", None)], "there was no answer before the next question"


def test_last_question_waits_until_idle_and_then_may_grow(tmp_path: Path) -> None:
    taking = Taking(tmp_path)
    taking.path.write_bytes(asked("One?") + answered("Yes.") + asked("Two?", DAY + timedelta(minutes=1)))
    taking.round()
    assert taking.questions() == ["One?"]
    taking.idle = 601
    taking.round()
    assert taking.questions() == ["One?", "Two?"]
    before = taking.all_files()
    taking.start()
    taking.round()
    assert taking.all_files() == before, "without new turns nothing is written"
    append(taking.path, answered("No problem.", DAY + timedelta(hours=1)), asked("Three?", DAY + timedelta(hours=1)))
    taking.idle = 0
    taking.round()
    assert taking.questions() == ["One?", "Two?"]
    assert (SESSION, 2, "No problem.") in taking.held
    append(taking.path, answered("Later."))
    taking.idle = 601
    taking.round()
    assert [seq for seq, _, _ in taking.turns()] == [1, 2, 3]


def test_marked_answer_survives_a_late_addition(tmp_path: Path) -> None:
    taking = Taking(tmp_path)
    taking.path.write_bytes(asked("One?") + answered("Yes."))
    taking.idle = 601
    taking.round()
    taking.store.turns.mark(SESSION, 1, "It is kept.", agent="main")
    append(taking.path, answered("Ok."), asked("Two?"))
    taking.start()
    taking.round()
    assert taking.turns()[0] == (1, "One?", "It is kept.")


@settings(max_examples=whole_or(5, 25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_each_turn_is_taken_once_in_any_chunks_with_restarts(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    taking = Taking(tmp_path_factory.mktemp("taking"))
    roles = data.draw(st.lists(st.sampled_from([asked, answered]), min_size=1, max_size=12))
    lines = [role(f"Message {number}", DAY + timedelta(minutes=number)) for number, role in enumerate(roles)]
    written = b"".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(written)), max_size=5)))
    for begin, end in zip([0, *cuts], [*cuts, len(written)], strict=True):
        append(taking.path, written[begin:end])
        taking.idle = data.draw(st.sampled_from([0.0, 601.0]))
        taking.round()
        if data.draw(st.booleans()):
            taking.start()
    taking.idle = 601
    taking.round()
    expected = [f"Message {number}" for number, role in enumerate(roles) if role is asked]
    if expected:
        assert [(seq, question) for seq, question, _ in taking.turns()] == list(enumerate(expected, start=1))
    else:
        assert taking.all_files() == {}


def test_kill_after_write_repeats_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taking = Taking(tmp_path)
    taking.path.write_bytes(asked("One?") + answered("Yes.") + asked("Two?", DAY + timedelta(minutes=1)))
    real = SessionTurns.take_transcript

    def killed(*arguments: object, **named: object) -> None:
        real(*arguments, **named)  # type: ignore[arg-type]  # passed on unchanged
        raise OSError("killed")

    monkeypatch.setattr(SessionTurns, "take_transcript", killed)
    with pytest.raises(OSError, match="killed"):
        taking.round()
    monkeypatch.undo()
    taking.start()
    append(taking.path, asked("Three?", DAY + timedelta(minutes=2)))
    taking.round()
    assert taking.questions() == ["One?", "Two?"]


def test_two_daemons_take_each_turn_once(tmp_path: Path) -> None:
    first, second = Taking(tmp_path), Taking(tmp_path)
    first.path.write_bytes(asked("One?") + answered("Yes.") + asked("Two?", DAY + timedelta(minutes=1)))
    first.round()
    second.round()
    append(first.path, asked("Three?", DAY + timedelta(minutes=2)))
    first.round()
    second.round()
    append(first.path, asked("Four?", DAY + timedelta(minutes=3)))
    second.round()
    first.round()
    first.round()
    assert first.questions() == ["One?", "Two?", "Three?"]
    place = place_of(first.store.sessions.read(SESSION, agent="main"))
    assert place is not None
    with pytest.raises(PlaceMovedError):
        first.store.turns.take_transcript([TranscriptTurn(1, "One?", DAY, True)], place, before=None, agent="main")


@pytest.mark.parametrize("is_restarted", [False, True])
def test_rewritten_transcript_neither_repeats_nor_loses_turns(tmp_path: Path, is_restarted: bool) -> None:
    taking = Taking(tmp_path)
    lines = [asked(f"Question {number}?", DAY + timedelta(minutes=number)) for number in range(6)]
    taking.path.write_bytes(b"".join(lines))
    taking.idle = 601
    taking.round()
    if is_restarted:
        taking.start()
    taking.path.write_bytes(EVENT + b"".join([*lines[2:4], asked("New?", DAY + timedelta(hours=1)), lines[5]]))
    taking.round()
    append(taking.path, asked("Last?", DAY + timedelta(hours=2)))
    taking.round()
    assert taking.questions() == [*(f"Question {number}?" for number in range(6)), "New?", "Last?"]
    taking.path.write_bytes(lines[0])
    taking.round()
    append(taking.path, asked("After the cut?", DAY + timedelta(hours=3)))
    taking.round()
    assert taking.questions()[8:] == ["After the cut?"]


def test_same_words_at_another_time_are_another_turn(tmp_path: Path) -> None:
    taking = Taking(tmp_path)
    taking.path.write_bytes(b"".join(asked("Go on.", DAY + timedelta(minutes=number)) for number in range(3)))
    append(taking.path, asked("Go on.", None), asked("Go on.", None))
    taking.idle = 601
    taking.round()
    assert taking.questions() == ["Go on."] * 5


def test_long_transcript_is_taken_in_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_taking, "STEP_BYTES", 400)
    taking = Taking(tmp_path)
    for number in range(60):
        append(taking.path, asked(f"Question {number}?", DAY + timedelta(minutes=number)), *[EVENT] * (number % 7 * 5))
    taking.idle = 601
    taking.round()
    taking.start()
    taking.round()
    assert taking.questions() == [f"Question {number}?" for number in range(60)]


def test_small_transcript_does_not_wait_for_large_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_taking, "STEP_BYTES", 400)
    taking = Taking(tmp_path)
    at = [DAY + timedelta(minutes=number) for number in range(60)]
    for name in ("a.jsonl", NAME):
        append(taking.source / name, *(asked(f"Question {number}?", at[number]) for number in range(60)))
    append(taking.source / "small.jsonl", asked("Small?"), asked("More?", at[1]))
    # the folder is listed after each step
    taking.taking = TurnTaking(
        agent="main", look=taking._look, store=Access(taking.store), store_answer=taking._hold, poll_seconds=0.0
    )
    assert not asyncio.run(taking.taking.round())
    small = taking.store.sessions.read(transcript_session("main", "small.jsonl"), agent="main")
    assert [turn.question for turn in small.turns] == ["Small?"]
    taking.start()
    monkeypatch.setattr(taking.taking, "poll_seconds", 0.0)
    is_done = [asyncio.run(taking.taking.round()) for _ in range(60)]
    assert is_done.index(True) > 5
    assert taking.questions() == [f"Question {number}?" for number in range(59)]
    other = taking.store.sessions.read(transcript_session("main", "a.jsonl"), agent="main")
    assert len(other.turns) == 59


def test_long_transcript_is_written_in_few_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_taking, "STEP_BYTES", 400)
    taking = Taking(tmp_path)
    for number in range(400):
        append(taking.path, asked(f"Question {number}?", DAY + timedelta(minutes=number)))
    writes = 0
    change = taking.store.sessions.change

    def counted(*args: Any, **kwargs: Any) -> bool:
        nonlocal writes
        writes += 1
        return change(*args, **kwargs)

    monkeypatch.setattr(taking.store.sessions, "change", counted)
    taking.round()
    assert len(taking.questions()) == 399
    # each write takes a quarter more, of about 130 steps
    assert writes < 40


def test_withheld_transcript_is_not_taken(tmp_path: Path) -> None:
    taking = Taking(tmp_path)
    taking.path.write_bytes(asked("One?") + asked("Two?", DAY + timedelta(minutes=1)))
    taking.withheld.add(NAME)
    taking.round()
    assert taking.all_files() == {}
    taking.withheld.clear()
    taking.round()
    taking.store.turns.set_remembered(SESSION, False, agent="main")
    append(taking.path, asked("Three?", DAY + timedelta(minutes=2)))
    before = taking.all_files()
    taking.round()
    taking.start()
    taking.round()
    assert taking.all_files() == before
    assert taking.questions() == ["One?"]


def test_transcript_forgotten_while_read_stays_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taking = Taking(tmp_path)
    taking.path.write_bytes(asked("One?") + asked("Two?", DAY + timedelta(minutes=1)))
    taking.round()
    append(taking.path, asked("Three?", DAY + timedelta(minutes=2)))
    real = read_turns

    def forgetting(*arguments: Any) -> Any:
        taking.withheld.add(NAME)
        taking.store.forget(SESSION, agent="main")
        return real(*arguments)

    monkeypatch.setattr(turn_taking, "read_turns", forgetting)
    taking.round()
    assert taking.store.sessions.of("main") == []
    assert not (taking.workspace / "memory" / "sessions" / f"{SESSION}.json").exists()


def test_live_turns_and_transcripts_have_separate_sessions(tmp_path: Path) -> None:
    taking = Taking(tmp_path)
    taking.path.write_bytes(asked("One?") + asked("Two?", DAY + timedelta(minutes=1)))
    taking.round()
    with pytest.raises(Denied):
        taking.store.turns.append(SESSION, RawTurn("Mine?", None, DAY), agent="main")
    live = taking.store.turns.append_by_key("agent:main:discord:dm:1", RawTurn("Live?", None, DAY), agent="main")
    assert live is not None
    assert live.session != SESSION
    other = Taking(tmp_path, "other")
    other.round()
    assert transcript_session("other", NAME) != SESSION
    assert len(other.store.sessions.of("other")) == 1
    assert taking.questions() == ["One?"]


def test_secrets_are_masked_and_invalid_places_lose_no_turn(tmp_path: Path) -> None:
    taking = Taking(tmp_path)
    secret = "ghp_" + "a1B2c3D4e5" * 4
    taking.path.write_bytes(asked(f"Is {secret} right?") + asked("Two?", DAY + timedelta(minutes=1)))
    taking.round()
    assert secret.encode() not in b"".join(taking.all_files().values())
    file = taking.workspace / "memory" / "sessions" / f"{SESSION}.json"
    for broken in ('"transcript": 5', '"transcript": {"file": "s1.jsonl", "line": -1}', '"transcript": {"file": 7}'):
        text = file.read_text()
        begin, end = text.index('"transcript"'), text.index(', "qa_sequence"')
        file.write_text(text[:begin] + broken + text[end:])
        taking.start()
        taking.round()
        assert len(taking.turns()) == 1
    append(taking.path, asked("Three?", DAY + timedelta(minutes=2)))
    taking.round()
    assert taking.questions()[1:] == ["Two?"]


def test_unreadable_session_affects_only_its_transcript(tmp_path: Path) -> None:
    taking = Taking(tmp_path)
    taking.path.write_bytes(asked("One?") + asked("Two?", DAY + timedelta(minutes=1)))
    (taking.source / "s2.jsonl").write_bytes(asked("Other?") + asked("More?", DAY + timedelta(minutes=1)))
    file = taking.workspace / "memory" / "sessions" / f"{SESSION}.json"
    file.parent.mkdir(parents=True)
    file.write_text("{")
    taking.start()
    taking.round()
    assert list(taking.taking.problems) == [NAME]
    assert SESSION in taking.taking.sentences[0]
    assert file.read_text() == "{"
    other = taking.store.sessions.read(transcript_session("main", "s2.jsonl"), agent="main")
    assert [turn.question for turn in other.turns] == ["Other?"]


def test_unknown_format_is_reported_and_missing_folder_is_empty(tmp_path: Path) -> None:
    taking = Taking(tmp_path)
    taking.path.write_text('{"a": 1}\n{"b": 2}\n')
    taking.round()
    assert list(taking.taking.problems) == [NAME]
    assert taking.all_files() == {}
    os.replace(taking.source, tmp_path / "elsewhere")  # noqa: PTH105
    taking.round()
    assert taking.taking.problems == {}
