"""Withheld conversations: recognised by name, beginning or session key, never by their text."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoryd.domain.documents import transcript_path, turns_path
from memoryd.errors import Denied, InvalidRequest, StoreUnavailable
from memoryd.sessions.transcripts.reading import begins_alike, is_same_conversation
from memoryd.sessions.withheld import WithheldConversations
from memoryd.store.ledger import conversations
from memoryd.store.ledger.ledger import Ledger
from tests.store.rows import files_with

CANARY = "zanzibar-canary"
KEY = f"agent:main:telegram:direct:{CANARY}"
PATH = transcript_path("main", "one.jsonl")


async def loaded(ledger: Ledger, agent: str = "main") -> WithheldConversations:
    made = WithheldConversations(agent, ledger)
    await made.load()
    return made


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "one.jsonl"
    path.write_text(f'{{"type":"session","id":"{CANARY}"}}\n')
    return path


async def test_marks_survive_restart_and_reading_creates_no_file(ledger: Ledger, transcript: Path) -> None:
    first = await loaded(ledger)
    assert not first.has_key(KEY)
    assert first.forgotten_transcript_in(transcript) is None
    assert not ledger.path.parent.exists()
    await first.withhold_key(KEY)
    await first.withhold_transcript(PATH, transcript, is_forgotten=True)
    await first.begin_forgetting(turns_path("s1"))
    for one in (first, await loaded(ledger)):
        assert one.has_key(KEY)
        assert one.has_key(KEY.upper().replace("AGENT", " Agent "))
        assert not one.has_key("agent:main:telegram:direct:other")
        found = one.withheld_transcript(PATH)
        assert found is not None
        assert found.is_forgotten
        assert [row.name for row in one.unfinished()] == ["session:s1"]


async def test_marks_are_separate_per_agent(ledger: Ledger, transcript: Path) -> None:
    first, other = await loaded(ledger), await loaded(ledger, "other")
    await first.withhold_key(KEY)
    await first.withhold_transcript(PATH, transcript, is_forgotten=True)
    again = await loaded(ledger, "other")
    for one in (other, again):
        assert not one.has_key(KEY)
        assert one.withheld_transcript(PATH) is None
        assert one.forgotten_transcript_in(transcript) is None


async def test_forgotten_transcript_is_recognised_as_longer_copy(ledger: Ledger, transcript: Path) -> None:
    marks = await loaded(ledger)
    await marks.withhold_transcript(PATH, transcript, is_forgotten=True)
    copy = transcript.with_name("copy.jsonl")
    copy.write_text(transcript.read_text() + '{"type":"message"}\n')
    assert marks.forgotten_transcript_in(copy) is not None
    copy.write_text('{"type":"session","id":"another"}\n')
    assert marks.forgotten_transcript_in(copy) is None
    copy.write_text("{")
    assert marks.forgotten_transcript_in(copy) is None


@pytest.mark.parametrize("beginning", ["", "{", "{}\n", '{"type":"summary","text":"said by many"}\n'])
async def test_beginning_without_id_matches_no_other_transcript(
    ledger: Ledger, transcript: Path, beginning: str
) -> None:
    other = transcript.with_name("other.jsonl")
    other.write_text(beginning + '{"type":"session","id":"another"}\n')
    transcript.write_text(beginning)
    marks = await loaded(ledger)
    await marks.withhold_transcript(PATH, transcript, is_forgotten=True)
    assert marks.withheld_transcript(PATH) is not None
    assert marks.forgotten_transcript_in(other) is None


@pytest.mark.parametrize("shared", [100, 4096, 3 << 20])
async def test_fork_is_another_conversation(ledger: Ledger, transcript: Path, shared: int) -> None:
    begun = transcript.read_text() + "x" * shared
    transcript.write_text(f"{begun}\nthis one's own end\n")
    marks = await loaded(ledger)
    await marks.withhold_transcript(PATH, transcript, is_forgotten=True)
    fork, grown = transcript.with_name("fork.jsonl"), transcript.with_name("grown.jsonl")
    fork.write_text(f"{begun}\nanother end that is longer than the first one\n")
    grown.write_text(f"{transcript.read_text()}and more\n")
    for one in (marks, await loaded(ledger)):
        assert one.forgotten_transcript_in(fork) is None
        assert one.forgotten_transcript_in(grown) is not None
    assert not is_same_conversation(transcript, fork)
    assert begins_alike(transcript, fork) is (shared >= 4096)
    assert is_same_conversation(grown, transcript)
    assert is_same_conversation(transcript, grown)


async def test_marked_transcript_is_recognised_by_name_only(ledger: Ledger, transcript: Path) -> None:
    marks = await loaded(ledger)
    await marks.withhold_transcript(PATH, transcript, is_forgotten=False)
    assert marks.withheld_transcript(PATH) is not None
    assert marks.forgotten_transcript_in(transcript) is None
    assert await marks.release_transcript(PATH)
    assert marks.withheld_transcript(PATH) is None
    assert not await marks.release_transcript(PATH)


async def test_mark_does_not_revoke_a_forgetting(ledger: Ledger, transcript: Path) -> None:
    marks = await loaded(ledger)
    await marks.withhold_transcript(PATH, transcript, is_forgotten=True)
    await marks.withhold_transcript(PATH, None, is_forgotten=False)
    for one in (marks, await loaded(ledger)):
        found = one.withheld_transcript(PATH)
        assert found is not None
        assert found.is_forgotten
        assert one.forgotten_transcript_in(transcript) is not None


async def test_key_content_and_forgotten_session_are_not_on_disk(ledger: Ledger, transcript: Path) -> None:
    marks = await loaded(ledger)
    await marks.withhold_key(KEY)
    await marks.withhold_transcript(PATH, transcript, is_forgotten=True)
    assert files_with(ledger.path.parent, CANARY) == []
    await marks.begin_forgetting(turns_path("telegram-peer-20260130"))
    assert files_with(ledger.path.parent, "telegram-peer")
    await marks.end_forgetting(turns_path("telegram-peer-20260130"))
    assert files_with(ledger.path.parent, "telegram-peer") == []
    assert marks.unfinished() == []
    assert await WithheldConversations("main", ledger).release_key(KEY)
    assert not (await loaded(ledger)).has_key(KEY)


@pytest.mark.parametrize("marked", ["agent:main:telegram:direct:88", "telegram:direct:88", "agent:main:telegram:dm:88"])
async def test_mark_of_a_key_covers_all_spellings(ledger: Ledger, marked: str) -> None:
    marks = await loaded(ledger)
    await marks.withhold_key(marked)
    spelt = ["agent:main:telegram:direct:88", "telegram:direct:88", "telegram:dm:88", "Agent:main:Telegram:DM:88"]
    others = ["agent:work:telegram:direct:88", "telegram:direct:89", "telegram:group:88", "telegram:direct:dm"]
    assert [marks.has_key(one) for one in [*spelt, *others]] == [True] * 4 + [False] * 4

    assert await marks.release_key("telegram:dm:88")
    assert not marks.has_key(marked)


async def test_marks_are_unknown_until_ledger_is_read(tmp_path: Path, executor: ThreadPoolExecutor) -> None:
    path = tmp_path / "ledger.sqlite"
    path.mkdir()
    marks = WithheldConversations("main", Ledger(path, executor))
    with pytest.raises(StoreUnavailable):
        marks.has_key(KEY)
    with pytest.raises(StoreUnavailable):
        await marks.load()
    assert "it is not known" in marks.trouble
    with pytest.raises(StoreUnavailable):
        marks.withheld_transcript(PATH)


async def test_read_only_ledger_refuses_marks(tmp_path: Path, executor: ThreadPoolExecutor) -> None:
    marks = await loaded(Ledger(tmp_path / "state" / "ledger.sqlite", executor, is_read_only=True))
    with pytest.raises(Denied):
        await marks.withhold_key(KEY)
    assert not (tmp_path / "state").exists()


async def test_number_of_keys_is_bounded(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "MAX_KEYS", 2)
    marks = await loaded(ledger)
    for key in ("main", "cli:a", "cli:a", "main"):
        await marks.withhold_key(key)
    with pytest.raises(InvalidRequest):
        await marks.withhold_key("cli:b")
    assert marks.has_key("main")
    assert not marks.has_key("cli:b")


async def test_marks_of_shared_and_own_ledger_both_apply(
    ledger: Ledger, transcript: Path, tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    shared = await loaded(ledger, "b")
    await shared.withhold_key(KEY)
    await shared.withhold_key("cli:agents", is_owners=False)
    await shared.withhold_transcript(PATH, transcript, is_forgotten=True)
    await shared.begin_forgetting(turns_path("s1"))
    own = Ledger(tmp_path / "state" / "ledger-b.sqlite", executor)
    # another key and a mark of its own, as made by a memoryd that did not know the shared ledger
    await (await loaded(own, "b")).withhold_key("cli:own")

    def both_ledgers() -> WithheldConversations:
        return WithheldConversations("b", own, previous=WithheldConversations("b", ledger))

    marks = both_ledgers()
    await marks.load()
    copy = transcript.with_name("copy.jsonl")
    copy.write_text(transcript.read_text() + '{"type":"message"}\n')
    assert marks.has_key(KEY)
    assert marks.has_key("cli:own")
    assert marks.count_keys() == 3
    await marks.withhold_key(KEY)
    assert marks.count_keys() == 3, "the owner repeats a mark of the other ledger"
    assert marks.withholds_path(PATH)
    assert marks.withholds_path(turns_path("s1"))
    assert (found := marks.withheld_transcript(PATH)) is not None
    assert marks.begins_with(copy, found)
    assert marks.forgotten_transcript_in(copy) is not None
    assert [one.name for one in marks.unfinished()] == ["session:s1"]

    # a mere mark in the own ledger leaves it forgotten
    await marks.withhold_transcript(PATH, None, is_forgotten=False)
    assert marks.forgotten_transcript_in(copy) is not None
    assert (found := marks.withheld_transcript(PATH)) is not None
    assert found.is_forgotten

    assert await marks.release_key(KEY)
    assert await marks.release_transcript(PATH)
    assert await marks.release_marks_of_agent() == 1
    await marks.end_forgetting(turns_path("s1"))
    again = both_ledgers()
    await again.load()
    for one in (marks, again):
        assert one.has_key("cli:own")
        assert one.count_keys() == 1
        assert not one.withholds_path(PATH)
        assert one.forgotten_transcript_in(copy) is None
        assert not one.unfinished()
    await own.close()


async def test_unreadable_shared_ledger_makes_marks_unknown(
    tmp_path: Path, ledger: Ledger, executor: ThreadPoolExecutor
) -> None:
    (tmp_path / "shared.sqlite").write_text("a note")
    shared = WithheldConversations("b", Ledger(tmp_path / "shared.sqlite", executor, is_private=False))
    marks = WithheldConversations("b", ledger, previous=shared)
    with pytest.raises(StoreUnavailable, match="it is not known"):
        await marks.load()
    with pytest.raises(StoreUnavailable, match="it is not known"):
        marks.has_key(KEY)
