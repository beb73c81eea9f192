"""Transcripts as conversations: read continuously, in small steps, and removed with their files."""

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memoryd.agents.conversations.listing import ConversationList
from memoryd.agents.conversations.showing import StoredConversations
from memoryd.domain.documents import Citation, transcript_path
from memoryd.errors import NotFound
from memoryd.files.excerpts import LineRange
from memoryd.search.protocol import ArmState
from memoryd.sessions.transcripts.conversations import STEP_BYTES, visible_transcripts
from memoryd.sessions.transcripts.folders import TranscriptFolder, TranscriptFolders
from memoryd.sessions.withheld import WithheldConversations
from memoryd.store.ledger.ledger import Ledger
from tests.fakes import FakeClock
from tests.integration.conversing import Talk, talking
from tests.waiting import eventually_async

BEGUN = datetime(2026, 10, 18, 12, tzinfo=UTC)
LOG = transcript_path("main", "0d9f.jsonl")
NEVER = {"deltaBytes": 10**9, "deltaMessages": 10**6, "idleSeconds": 86_400}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "none"))
    (tmp_path / "transcripts").mkdir()
    return tmp_path / "transcripts"


def spoken(text: str, *, role: str = "user", number: int = 0) -> str:
    """Return a line of an OpenClaw transcript."""
    at = (BEGUN + timedelta(seconds=number)).isoformat().replace("+00:00", "Z")
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return json.dumps({"type": "message", "timestamp": at, "message": message}) + "\n"


HEAD = json.dumps({"type": "session", "version": 3, "id": "0d9f", "timestamp": BEGUN.isoformat()}) + "\n"


def write(file: Path, lines: Sequence[str]) -> None:
    file.write_text(HEAD + "".join(lines))


def add(file: Path, *lines: str) -> None:
    with file.open("a") as stream:
        stream.write("".join(lines))


async def stamps(talk: Talk) -> dict[str, str]:
    return {str(path): one.stamp for path, one in (await talk.conversations.database.conversations.known()).items()}


async def test_lines_keep_their_numbers_of_the_file(tmp_path: Path, folder: Path) -> None:
    write(folder / "0d9f.jsonl", [spoken("Where does the quetzal nest?"), "\n", spoken("In trees.", role="assistant")])
    async with talking(tmp_path, transcripts=NEVER) as talk:
        assert await talk.sync() == ""
        assert await talk.found("quetzal") == [f"{LOG} 2-4"]
        lines = await talk.conversations.lines(LOG, 1, 9)
        assert lines == {2: "User: Where does the quetzal nest?", 4: "Assistant: In trees."}


async def test_long_transcript_is_paged_over_empty_lines(tmp_path: Path, folder: Path) -> None:
    """Lines of tools are empty: the first 1,500, most of the next ones, and a page at the end."""
    empty = "\n"
    questions = [spoken(f"quetzal {number}") + empty + empty for number in range(700)]
    write(folder / "0d9f.jsonl", [empty * 1500, *questions, empty * 1500, spoken("the last word")])
    async with talking(tmp_path, transcripts=NEVER) as talk:
        await talk.sync()
        unused: Any = None
        folders = TranscriptFolders(transcript_path("main", ""), [TranscriptFolder(folder)])
        listing = ConversationList(unused, talk.conversations, folders)
        shown = StoredConversations(
            agent="main", index=talk.conversations, qa=unused, listing=listing, exports=None, forgetting=unused
        )

        lines, first = list[int](), 1
        while first:
            reply = await shown.show(f"{LOG}#L{first}-L999999", around=0)
            lines += [line["line"] for line in reply["lines"]]
            first = reply["nextLine"] or 0

        assert lines == [1502 + 3 * number for number in range(700)] + [5102]
        assert (await shown.show(f"{LOG}#L1502-L1502", around=1))["nextLine"] == 1505
        assert (await shown.show(f"{LOG}#L5102", around=1))["nextLine"] is None

        text, first = "", 1
        while first:
            page = await shown.read(Citation(LOG, None, None), LineRange(first, 400))
            text += page["text"]
            first = page["nextFrom"] or 0
        assert text.count("quetzal") == 700
        assert text.splitlines()[5101] == "User: the last word"
        with pytest.raises(NotFound):
            await shown.read(Citation(LOG, None, None), LineRange(5103, 400))


async def test_new_lines_are_read_only_from_the_threshold_on(tmp_path: Path, folder: Path) -> None:
    file = folder / "0d9f.jsonl"
    write(file, [spoken("Where does the quetzal nest?")])
    async with talking(tmp_path, transcripts={**NEVER, "deltaMessages": 3}) as talk:
        await talk.sync()
        before = await stamps(talk)
        add(file, spoken("And the toucan?"), spoken("And the heron?"))
        feeder = talk.conversations.feeders[1]
        scans = feeder.scans
        await eventually_async(lambda: feeder.scans > scans + 2)
        assert await stamps(talk) == before
        feeder.hint()
        arm, is_found = await talk.asked("toucan", fresh_seconds=20)
        assert (arm.state, is_found) == (ArmState.OK, False)
        add(file, spoken("And the stork?"))
        await eventually_async(lambda: talk.found("toucan"))
        assert await talk.found("stork") == [f"{LOG} 2-5"]


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ({"deltaBytes": 500}, spoken("And the toucan? " * 50)),
        ({"idleSeconds": 0.5}, spoken("And the toucan?")),
        ({}, json.dumps({"type": "compaction", "summary": "x"}) + "\n" + spoken("And the toucan?")),
    ],
    ids=["bytes", "rest", "compaction"],
)
async def test_transcript_is_read_on_by_each_rule(
    tmp_path: Path, folder: Path, rule: dict[str, object], line: str
) -> None:
    file = folder / "0d9f.jsonl"
    write(file, [spoken("Where does the quetzal nest?")])
    async with talking(tmp_path, transcripts={**NEVER, **rule}) as talk:
        await talk.sync()
        add(file, line)
        await eventually_async(lambda: talk.found("toucan"))


async def test_restart_reads_only_new_lines(tmp_path: Path, folder: Path) -> None:
    write(folder / "0d9f.jsonl", [spoken("Where does the quetzal nest?")])
    write(folder / "1a2b.jsonl", [spoken("Where does the heron nest?")])
    async with talking(tmp_path, transcripts=NEVER) as talk:
        await talk.sync()
        before = await stamps(talk)
    add(folder / "0d9f.jsonl", spoken("And the toucan?"))
    async with talking(tmp_path, transcripts=NEVER) as talk:
        await eventually_async(lambda: talk.found("toucan"))
        after = await stamps(talk)
        assert {path for path in before if before[path] != after[path]} == {LOG}


async def test_rewritten_truncated_and_rotated_files_equal_a_rebuild(tmp_path: Path, folder: Path) -> None:
    file, other = folder / "0d9f.jsonl", folder / "1a2b.jsonl"
    write(file, [spoken(f"question {number} about the quetzal", number=number) for number in range(300)])
    write(other, [spoken(f"question {number} about the heron", number=number) for number in range(200)])
    async with talking(tmp_path, transcripts=NEVER) as talk:
        await talk.sync()
        write(file, [spoken("Only this is left of the toucan")])
        os.truncate(other, len(HEAD) + 3 * len(spoken("question 0 about the heron")))
        write(folder / "3c4d.jsonl", [spoken("A stork is said to be near")])
        (folder / "3c4d.jsonl").rename(folder / "3c4d.jsonl.reset.2026-10-18T12-00-00.000Z")
        await talk.sync()
        assert await talk.found("quetzal") == []
        assert await talk.found("toucan") == [f"{LOG} 2-2"]
        assert len(await talk.found("stork")) == 1
        grown = await talk.dump()
    for file in tmp_path.glob("conversations-main.sqlite*"):
        file.unlink()
    async with talking(tmp_path, transcripts=NEVER) as talk:
        await talk.sync()
        assert await talk.dump() == grown


async def test_large_transcript_is_read_in_resumable_steps(tmp_path: Path, folder: Path) -> None:
    file = folder / "0d9f.jsonl"
    noise = json.dumps({"type": "custom", "data": "x" * 20_000}) + "\n"
    lines = [line for number in range(150) for line in (spoken(f"question {number} about birds", number=number), noise)]
    write(file, lines)
    assert file.stat().st_size > 5 * STEP_BYTES
    async with talking(tmp_path, transcripts=NEVER) as talk:
        tails = set()

        async def is_read() -> bool:
            if not talk.conversations.database.is_open:
                return False
            row = await talk.conversations.database.conversations.row(LOG)
            tails.add("" if row is None else row.tail)
            return row is not None and bool(row.stamp)

        await eventually_async(is_read, step=0.001)
        assert len(tails) > 2
        stepwise = await talk.dump()
        assert (await talk.conversations.lines(LOG, 1, 10**6)).keys() == {2 * number + 2 for number in range(150)}
    for index in tmp_path.glob("conversations-main.sqlite*"):
        index.unlink()
    async with talking(tmp_path, transcripts=NEVER) as talk:
        await talk.sync()
        assert await talk.dump() == stepwise


async def test_large_transcript_delays_no_other(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryd.sessions.transcripts.conversations.STEP_BYTES", 1_000)
    write(folder / "old.jsonl", [spoken("Where does the quetzal nest?")])
    write(folder / "gone.jsonl", [spoken("Who saw the stork?")])
    async with talking(tmp_path, transcripts=NEVER) as talk:
        await talk.sync()
        # thousands of steps: far more than the rest of this test takes
        write(folder / "0d9f.jsonl", [spoken(f"Is {number} enough?") for number in range(30_000)])
        talk.conversations.demand()
        await eventually_async(lambda: has_begun(talk))
        write(folder / "new.jsonl", [spoken("And the toucan?")])
        write(folder / "old.jsonl", [spoken("Where does the heron nest now, and since when?")])
        talk.conversations.demand()
        await eventually_async(lambda: talk.found("toucan"))
        await eventually_async(lambda: talk.found("heron"))
        assert not await talk.found("quetzal")
        (folder / "gone.jsonl").unlink()
        talk.conversations.demand()
        await eventually_async(lambda: _is_gone(talk, "stork"))
        assert await has_begun(talk)
        assert not talk.conversations.feeders[1].is_up_to_date


async def has_begun(talk: Talk) -> bool:
    """Return whether a transcript is being read and not finished."""
    return (await stamps(talk)).get(LOG) == ""


async def test_deleted_transcript_leaves_and_vanished_folder_has_grace(tmp_path: Path, folder: Path) -> None:
    write(folder / "0d9f.jsonl", [spoken("Where does the quetzal nest?")])
    write(folder / "1a2b.jsonl", [spoken("Where does the heron nest?")])
    async with talking(tmp_path, transcripts=NEVER) as talk:
        await talk.sync()
        (folder / "0d9f.jsonl").unlink()
        await eventually_async(lambda: _is_gone(talk, "quetzal"))
        away = folder.rename(tmp_path / "away")
        assert await talk.sync() == ""
        assert str(folder) in str(talk.conversations.trouble)
        assert await talk.found("heron")
        away.rename(folder)
        await talk.sync()
        assert talk.conversations.trouble is None
        folder.rename(away)
        await eventually_async(lambda: _is_gone(talk, "heron"))


def test_returned_folder_has_a_full_grace_again(tmp_path: Path, folder: Path) -> None:
    clock, away = FakeClock(), tmp_path / "away"
    folders = TranscriptFolders("sessions/main/", [TranscriptFolder(folder)], grace=60, clock=clock)
    for _ in range(2):
        folder.rename(away)
        assert folders.scan().retained == {folder}
        clock.advance(59)
        assert folders.scan().retained == {folder}
        away.rename(folder)
        assert not folders.scan().retained
        clock.advance(1000)
    folder.rename(away)
    assert folders.scan().retained
    clock.advance(60)
    assert not folders.scan().retained


async def _is_gone(talk: Talk, word: str) -> bool:
    return not await talk.found(word)


async def test_reading_anew_gives_the_same_index(tmp_path: Path, folder: Path) -> None:
    write(folder / "0d9f.jsonl", [spoken(f"question {number} about the quetzal") for number in range(150)])
    async with talking(tmp_path, transcripts=NEVER) as talk:
        await talk.sync()
        before, tail = await talk.dump(), (await stamps(talk))[LOG]
        await talk.conversations.read_anew()
        known = await talk.conversations.writer.known()
        assert known[LOG].chunker in ("", talk.conversations.writer.chunker)
        await talk.sync()
        assert await talk.dump() == before
        known = await talk.conversations.writer.known()
        assert (known[LOG].chunker, known[LOG].stamp) == (talk.conversations.writer.chunker, tail)


async def test_unknown_format_is_counted_and_not_guessed(tmp_path: Path, folder: Path) -> None:
    (folder / "0d9f.jsonl").write_text('{"speaker": "me", "words": "quetzal"}\n' * 70)
    async with talking(tmp_path, transcripts=NEVER) as talk:
        assert await talk.sync() == ""
        assert await talk.found("quetzal") == []
        assert (await talk.conversations.database.conversations.counts()).unknown == 1
        write(folder / "0d9f.jsonl", [spoken("Where does the quetzal nest?")])
        await talk.sync()
        assert await talk.found("quetzal") == [f"{LOG} 2-2"]


async def test_withheld_transcript_is_not_read_under_any_name(tmp_path: Path, folder: Path) -> None:
    file = folder / "0d9f.jsonl"
    write(file, [spoken("Where does the quetzal nest?")])
    async with talking(tmp_path, transcripts=NEVER) as talk:
        await talk.sync()
        await talk.conversations.withheld.withhold_transcript(LOG, file, is_forgotten=True)
        assert await talk.conversations.forget(LOG) == 1
        add(file, spoken("And the toucan?"))
        file.rename(folder / "0d9f.jsonl.reset.2026-10-18T12-00-00.000Z")
        await talk.sync()
        assert await talk.found("quetzal toucan") == []
        assert await stamps(talk) == {}


async def test_disabled_transcripts_leave_the_index(tmp_path: Path, folder: Path) -> None:
    write(folder / "0d9f.jsonl", [spoken("Where does the quetzal nest?")])
    async with talking(tmp_path, transcripts=NEVER) as talk:
        await talk.sync()
        assert await talk.found("quetzal")
    async with talking(tmp_path) as talk:
        await eventually_async(lambda: _is_empty(talk))
        await talk.sync()
        await talk.conversations.database.checkpoint()
        assert b"quetzal" not in talk.conversations.database.path.read_bytes()


async def _is_empty(talk: Talk) -> bool:
    return talk.conversations.database.is_open and not await stamps(talk)


async def test_too_large_lines_are_counted_and_reported(tmp_path: Path, folder: Path) -> None:
    file = folder / "0d9f.jsonl"
    values = '{"type":"message","message":{"role":"user","content":[' + "[]," * 300_000 + "[]]}}\n"
    write(file, [spoken("Where does the quetzal nest?"), values, spoken("x" * (9 << 20)), spoken("And the toucan?")])
    async with talking(tmp_path, transcripts={**NEVER, "deltaBytes": 1}) as talk:
        await talk.sync()
        assert await talk.found("toucan") == [f"{LOG} 2-5"]
        (skipped,) = talk.conversations.partly_read
        assert (skipped.path, skipped.reason[:2]) == (LOG, "2 ")
        # rewritten without them
        write(file, [spoken("Where does the heron nest?")])
        await talk.sync()
        assert await talk.found("heron") == [f"{LOG} 2-2"]
        assert talk.conversations.partly_read == []


async def test_transcript_with_forgotten_namesake_is_hidden(tmp_path: Path, folder: Path) -> None:
    """Of two files with one name the first is read; forgetting the other one hides the name."""
    other, lone = tmp_path / "other", "1a2b.jsonl"
    other.mkdir()
    write(folder / "0d9f.jsonl", [spoken("Where does the quetzal nest?")])
    write(folder / lone, [spoken("Where does the stork nest?")])
    (other / "0d9f.jsonl").write_text(HEAD.replace("0d9f", "ffff") + spoken("The secret of the heron."))
    with ThreadPoolExecutor(1) as pool:
        ledger = Ledger(tmp_path / "ledger.sqlite", pool)
        withheld = WithheldConversations("main", ledger)
        await withheld.load()
        await withheld.withhold_transcript(
            transcript_path("main", "forgotten.jsonl"), other / "0d9f.jsonl", is_forgotten=True
        )
        folders = TranscriptFolders("sessions/main/", [TranscriptFolder(folder), TranscriptFolder(other)])
        visible = visible_transcripts("main", folders, withheld)
        assert [one.name for one in visible.files] == [lone]
        assert visible.is_excluded("0d9f.jsonl")
        await ledger.close()
