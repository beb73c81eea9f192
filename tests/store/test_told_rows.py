"""What agents were shown per question, in a real ledger: by turn, the stable block once, removed when forgotten."""

import asyncio
from contextlib import closing

import apsw
import pytest
from msgspec.structs import replace

from memoryd.agents.turns.shown import ShownTurns
from memoryd.domain.memories.changes.diffs import Forgotten
from memoryd.domain.memories.kinds import MemoryId, short_id
from memoryd.domain.memories.uses import Judgement
from memoryd.domain.ranking.calibration import Verdict
from memoryd.store.ledger import turns
from memoryd.store.ledger.forgotten import ForgottenRows
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.ledger.turns import ShownRows, ToldPart, ToldTurn

TEA = MemoryId("1a2b3c4d5e6f7081")
CORE = ToldPart(name="MEMORY.md", tokens=40, is_told=True, is_stable=True)
DRINK = ToldPart(name=short_id(TEA), tokens=9, is_told=True, verdict=Verdict.ANSWERABLE)
CUT = ToldPart(name="memory/a.md#L1-L3", tokens=90, is_told=False, verdict=Verdict.WEAK, cut="no room")


def turn(seq: int, *, etag: str = "e1", session: str = "s1") -> ToldTurn:
    return ToldTurn(
        agent="main",
        session=session,
        seq=seq,
        verdict=Verdict.ANSWERABLE,
        etag=etag,
        stable_tokens=40,
        recalled_tokens=9,
        sequence_tokens=0,
        at=1000.0 + seq,
        parts=(CORE, DRINK, CUT),
    )


async def test_stable_block_is_stored_with_its_first_turn(ledger: Ledger) -> None:
    rows = ShownRows(ledger, "/ws")
    assert await rows.some("main", 10) == []
    assert not ledger.path.exists(), "reading creates no file"
    await rows.put([turn(1), turn(2), turn(3, etag="e2"), turn(1, session="s2")])
    await rows.put([replace(turn(3), etag="later"), turn(4, etag="e2")])
    found = await rows.some("main", 10, session="s1")
    assert [(one.seq, one.stable_since, one.etag) for one in found] == [
        (4, 3, "e2"),
        (3, 3, "e2"),
        (2, 1, "e1"),
        (1, 1, "e1"),
    ]
    assert [CORE in one.parts for one in found] == [False, True, False, True]
    assert all({DRINK, CUT} <= set(one.parts) for one in found)
    assert await rows.some("other", 10) == await ShownRows(ledger, "/other").some("main", 10) == []


async def test_turns_are_paged_and_oldest_unjudged_are_dropped(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TURNS_MAX", 3)
    rows = ShownRows(ledger, "/ws")
    await rows.put([turn(1), turn(2)])
    second, first = await rows.some("main", 10)
    assert await rows.some("main", 10, before=second.number) == [first]
    assert await rows.judge("main", first.number, DRINK.name, Judgement.NOISE)
    assert not await rows.judge("main", first.number, "nothing", Judgement.NOISE)
    assert not await rows.judge("other", first.number, DRINK.name, Judgement.NOISE)
    await rows.put([turn(seq) for seq in range(3, 6)])
    kept = await rows.some("main", 10)
    assert [one.seq for one in kept] == [5, 4, 3, 1]
    assert {part.name: part.judgement for part in kept[-1].parts}[DRINK.name] is Judgement.NOISE
    await rows.judge("main", first.number, DRINK.name, None)
    assert DRINK in (await rows.some("main", 10))[-1].parts


async def test_turn_with_stable_block_stays_while_in_use(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TURNS_MAX", 3)
    rows = ShownRows(ledger, "/ws")
    for seq in range(1, 8):
        await rows.put([turn(seq)])
    kept = await rows.some("main", 10)
    assert [(one.seq, one.stable_since) for one in kept] == [(7, 1), (6, 1), (5, 1), (1, 1)]
    assert CORE in kept[-1].parts
    await rows.put([turn(8, etag="e2"), turn(9, etag="e2"), turn(10, etag="e2")])
    assert [one.seq for one in await rows.some("main", 10)] == [10, 9, 8], (
        "it is dropped with the last turn that used it"
    )


async def test_names_of_deleted_pages_are_removed(ledger: Ledger) -> None:
    names = [f"bank/entities/{name}" for name in ("Wen.md", "wen.md#L1-L3", "old-name.md", "bram.md", "bram.md#L4")]
    rows = ShownRows(ledger, "/ws")
    parts = tuple(ToldPart(name=name, tokens=1, is_told=True) for name in [*names, "bank/world.md"])
    await rows.put([replace(turn(1), parts=parts)])
    await ForgottenRows(ledger, "/ws").drop_pages({"bank/entities/bram.md"})
    left = [part.name for part in (await rows.some("main", 1))[0].parts]
    assert left == ["bank/entities/bram.md", "bank/entities/bram.md#L4", "bank/world.md"]
    assert b"old-name" not in ledger.path.read_bytes()


async def test_citations_of_forgotten_conversation_are_removed(ledger: Ledger) -> None:
    rows = ShownRows(ledger, "/ws")
    names = ("session:ann", "session:ann#Q1-Q2", "session:anna#Q1", "sessions/main/ann.jsonl#L3")
    await rows.put([replace(turn(1), parts=tuple(ToldPart(name=name, tokens=1, is_told=True) for name in names))])
    await turns.drop_cited(ledger, "another", "session:ann")
    assert len((await rows.some("main", 1))[0].parts) == 4
    await turns.drop_cited(ledger, "main", "session:ann")
    await turns.drop_cited(ledger, "main", "sessions/main/ann.jsonl")
    assert [part.name for part in (await rows.some("main", 1))[0].parts] == ["session:anna#Q1"]
    assert b"ann.jsonl" not in ledger.path.read_bytes()


async def test_names_of_forgotten_memory_and_session_are_removed(ledger: Ledger) -> None:
    rows = ShownRows(ledger, "/ws")
    await rows.put([turn(1), turn(1, session="s2")])
    await ForgottenRows(ledger, "/ws").purge({TEA}, Forgotten(lambda _text: False))
    assert [one.parts for one in await rows.some("main", 10)] == [(CORE, CUT)] * 2
    assert short_id(TEA).encode() not in ledger.path.read_bytes()
    await ledger.forget_session("main", "s1")
    assert [one.session for one in await rows.some("main", 10)] == ["s2"]
    with closing(apsw.Connection(str(ledger.path))) as db:
        assert db.execute("SELECT count(*) FROM told_parts").get == 2, "parts are removed with their turn"


async def test_listing_during_writes_is_complete(ledger: Ledger) -> None:
    turns = ShownTurns(ShownRows(ledger, "/ws"))
    writing = asyncio.ensure_future(turns.run(0.0))
    for seq in range(1, 30):
        turns.note(turn(seq), turns.mark)
        await asyncio.sleep(0)
        assert len(await turns.listing("main", 100)) == seq
    writing.cancel()


async def test_turn_answered_before_forgetting_is_not_stored(ledger: Ledger) -> None:
    turns = ShownTurns(ShownRows(ledger, "/ws"))
    mark = turns.mark
    turns.note(turn(1), mark)
    turns.drop_texts()
    turns.note(turn(2), mark)
    turns.note(turn(3), turns.mark)
    assert [one.seq for one in await turns.listing("main", 10)] == [3]
