"""Conversations in an index: parts and tail are stored in one transaction, and a purge removes all of them."""

from pathlib import Path

import apsw
import numpy as np
import pytest

from memoryd.domain.documents import RelativePath, transcript_path, turns_path
from memoryd.domain.sessions.conversation_parts import ConversationLine, ConversationPart, appended_parts
from memoryd.sessions.conversation_source import cut
from memoryd.store.index.conversations import ConversationExtent, ConversationRow, KnownConversation
from memoryd.store.index.database import Database
from memoryd.store.index.documents import passages_of_hashes
from tests.store.rows import SETTINGS, notes_with, read

LOG = transcript_path("main", "0d9f.jsonl")
SHORTER = transcript_path("main", "0d9")
CHUNKER = SETTINGS.fingerprint


def spoken(*texts: str, first: int = 1) -> list[ConversationLine]:
    return [ConversationLine(number, text, 10**18 + number) for number, text in enumerate(texts, start=first)]


async def put(
    database: Database,
    path: RelativePath,
    lines: list[ConversationLine],
    *,
    before: ConversationPart | None = None,
    stamp: str = "s",
    is_afresh: bool = False,
) -> ConversationPart | None:
    parts = appended_parts(before, lines)
    last = parts[-1] if parts else before
    row = ConversationRow(path, stamp, f"tail of {stamp}", CHUNKER, last)
    await database.conversations.put(row, cut(path, parts, SETTINGS), is_afresh=is_afresh)
    return last


async def test_conversation_is_read_back_and_extended(database: Database) -> None:
    last = await put(database, LOG, spoken("User: quetzal"), stamp="")
    row = await database.conversations.row(LOG)
    assert row is not None
    assert row == ConversationRow(LOG, "", "tail of ", CHUNKER, last)
    await put(database, LOG, spoken("Assistant: a bird", first=3), before=row.open_part)
    assert await database.conversations.known() == {LOG: KnownConversation("s", CHUNKER, "")}
    assert await database.conversations.lines(LOG, 1, 9) == {1: "User: quetzal", 3: "Assistant: a bird"}
    assert (await database.conversations.counts()).parts == 1


async def test_overlap_of_chunks_does_not_repeat_lines(database: Database) -> None:
    texts = [f"User: item {number} costs {number}0 crowns and a little more than that" for number in range(300)]
    lines = [ConversationLine(3 * number + 5, text) for number, text in enumerate(texts)]
    lines.append(ConversationLine(2000, "Assistant: " + "a very long line " * 400))
    await put(database, LOG, lines)
    assert (await database.conversations.counts()).parts > 3
    held = await database.conversations.lines(LOG, 1, 10_000)
    assert {number: " ".join(text.split()) for number, text in held.items()} == {
        line.number: " ".join(line.text.split()) for line in lines
    }
    assert (await database.conversations.lines(LOG, 8, 12)).keys() == {8, 11}


@pytest.mark.parametrize(("first", "gap", "count"), [(1, 1, 1), (2, 2, 15), (5, 3, 300), (9, 120, 4)])
async def test_extent_ends_with_last_spoken_line(database: Database, first: int, gap: int, count: int) -> None:
    lines = [ConversationLine(first + gap * at, f"User: {at} crowns", 10**18 + at) for at in range(count)]
    await put(database, LOG, lines)
    extents = await database.conversations.extents()
    assert extents == {LOG: ConversationExtent(lines[-1].number, lines[-1].at_ns)}


async def test_rewritten_conversation_replaces_old_parts(database: Database) -> None:
    await put(database, LOG, [*spoken("User: quetzal"), *spoken("User: toucan", first=500)])
    await put(database, SHORTER, spoken("User: quetzal"))
    await put(database, LOG, spoken("User: heron"), is_afresh=True)
    assert await notes_with(database, "quetzal") == {SHORTER}
    assert await notes_with(database, "toucan") == set()
    assert await notes_with(database, "heron") == {LOG}


async def test_purge_removes_parts_and_vectors_of_conversation(database: Database) -> None:
    other = turns_path("discord-wen-20261018")
    await put(database, LOG, [*spoken("User: quetzal"), *spoken("User: toucan", first=500)])
    await put(database, SHORTER, spoken("User: quetzal"))
    await put(database, other, spoken("User: heron"))
    hashes = {row.hash for row in (await read(database, passages_of_hashes, await all_hashes(database)))}
    space = await database.vectors.open_space(fingerprint="f", provider="p", model="m", dimensions=1, now=1.0)
    await database.vectors.put(space, [(key, np.ones(1, np.float32), "") for key in hashes], [], now=1.0)
    assert (await database.documents.counts()).vectors == 3
    assert await database.conversations.purge([LOG]) == 2
    assert (await database.documents.counts()).vectors == 2
    assert await notes_with(database, "quetzal") == {SHORTER}
    assert set(await database.conversations.known()) == {SHORTER, other}


async def all_hashes(database: Database) -> list[bytes]:
    connection = apsw.Connection(str(database.path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return [row[0] for row in connection.execute("SELECT hash FROM passages")]
    finally:
        connection.close()


@pytest.mark.parametrize("name", ["a%b.jsonl", "a_b[1].jsonl", "对话.jsonl", "x@9.jsonl"])
async def test_similar_names_are_kept_apart(database: Database, tmp_path: Path, name: str) -> None:
    path, other = transcript_path("main", name), transcript_path("main", name.removesuffix(".jsonl"))
    await put(database, path, spoken("User: quetzal"))
    await put(database, other, spoken("User: toucan"))
    await database.conversations.purge([other])
    assert await notes_with(database, "quetzal") == {path}
    assert await notes_with(database, "toucan") == set()
