"""The contract of every carrier of a team's memory: git repository and PostgreSQL server."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from memoryd.domain.memories.sharing import log_path, note_path, with_promoted
from memoryd.errors import InvalidRequest, SidecarError
from memoryd.team import attribution, own_files, postgres
from memoryd.team.members import begin, connection_options
from memoryd.team.own_files import OwnFiles
from memoryd.team.postgres import BATCH
from memoryd.team.protocol import Carrier, SharedChanges
from memoryd.team.repository import TeamRepository
from memoryd.team.sharing import SharedNotes
from tests.fakes import blow_up
from tests.postgres import Postgres, ServerMember, server_team
from tests.sweeps import swept, whole_or
from tests.teams import DAY, Member, line, team
from tests.waiting import eventually, eventually_async

ANAS_LOG = log_path("ana", DAY)

VERSION_1 = """
DROP FUNCTION memoryd.people, memoryd.listed;
CREATE FUNCTION memoryd.people(asked text) RETURNS TABLE (person text, role text) LANGUAGE sql AS $$
    SELECT person, role FROM memoryd.members WHERE team = asked $$;
CREATE FUNCTION memoryd.listed(asked text, each_most int)
RETURNS TABLE (person text, path text, digest bytea, size int) LANGUAGE sql AS $$
    SELECT person, path, digest, octet_length(body) FROM memoryd.files WHERE team = asked $$;
ALTER TABLE memoryd.members DROP COLUMN changed;
UPDATE memoryd.meta SET version = 1;
"""
"""Turns the tables into those of the first version."""


@pytest.mark.parametrize("remote", ["postgresql://h/m?password=hunter2&sslmod=x", "host=h password=hunter2 foo=1"])
def test_invalid_address_is_not_quoted(remote: str) -> None:
    with pytest.raises(SidecarError, match="address of the team") as refused:
        connection_options(remote)
    assert "hunter2" not in str(refused.value)


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    running = Postgres()
    yield running
    running.stop()


@pytest.fixture
def people() -> Sequence[str]:
    return ("ana", "ben")


RARELY_BY_GIT = pytest.mark.parametrize(
    "members", [pytest.param("git", marks=pytest.mark.torture), "postgres"], indirect=True
)
"""Git takes ten times as long as a server, and `tests/fault/test_team_faults.py` tests it alone."""


@pytest.fixture(params=["git", "postgres"])
async def members(request: pytest.FixtureRequest, people: Sequence[str], tmp_path: Path) -> Sequence[Member]:
    """The people of one team, each on their own machine."""
    if request.param == "git":
        return await team(tmp_path, *people)
    return await server_team(request.getfixturevalue("server"), tmp_path, *people)


async def test_carrier_stores_applied_changes(members: Sequence[Member]) -> None:
    ana: Carrier = members[0].carrier
    path, data = note_path("ana", "memory/x.md"), "# Gateway 网关\n".encode()
    await ana.apply(SharedChanges(put={path: data}, why="test"))
    assert await ana.known() == {path: ana.digest(data)}
    assert await ana.read([path, "notes/ana/memory/none.md"]) == {path: data}
    await ana.apply(SharedChanges(remove=[path], why="test"))
    assert await ana.known() == {}


async def test_applied_change_is_visible_locally_and_pending(members: Sequence[Member]) -> None:
    ana, ben = members
    await ana.promote("- W @Peter: the key is under the mat")
    assert ana.seen("ana/memory/2026-11-02.md") == "## Retain\n- W @Peter: the key is under the mat\n"
    assert ana.carrier.health().pending == 1
    await ben.exchange()
    assert ben.all_seen() == set()


async def test_shared_memory_is_visible_to_others_after_an_exchange(members: Sequence[Member]) -> None:
    ana, ben = members
    await ana.promote("- W @Peter: the key is under the mat")
    await ana.exchange()
    await ben.exchange()
    assert ben.seen("ana/memory/2026-11-02.md") == ana.seen("ana/memory/2026-11-02.md")
    assert ben.carrier.health().people == {"ana": 1, "ben": 0}
    # it is not ben's
    assert await ben.carrier.known() == {}
    assert await ben.carrier.read([ANAS_LOG]) == {}


async def test_memory_is_shared_once_and_fully_revoked(members: Sequence[Member]) -> None:
    ana, ben = members
    shared = await ana.promote("- W @Peter: the key is under the mat")
    _, is_new = await ana.sharing.promote(shared, DAY)
    assert not is_new
    await ana.exchange()
    await ben.exchange()
    assert [revoked.path for revoked in await ana.sharing.revoke([shared.id])] == [ANAS_LOG]
    assert await ana.sharing.revoke([shared.id]) == []
    await ana.exchange()
    await ben.exchange()
    assert ben.all_seen() == ana.all_seen() == set()


async def test_nobody_can_revoke_what_another_shared(members: Sequence[Member]) -> None:
    ana, ben = members
    shared = await ana.promote("- W: ana's")
    await ana.exchange()
    await ben.exchange()
    assert await ben.sharing.revoke([shared.id]) == []
    assert ben.seen("ana/memory/2026-11-02.md")


@RARELY_BY_GIT
@pytest.mark.sweep
@pytest.mark.parametrize("people", [("ana", "ben", "carl", "dora")[: whole_or(3, 4)]], ids=["some"])
async def test_concurrent_sharing_loses_nothing(members: Sequence[Member]) -> None:
    rounds = range(whole_or(1, 3))
    for number in rounds:
        for member in members:
            await member.promote(f"- W: {member.person} says {number}")
    # a member who is outrun sends the rest with the next exchange
    for _ in members:
        await asyncio.gather(*(member.carrier.exchange() for member in members))
    for reader in members:
        await reader.exchange()
        assert reader.all_seen() == {f"{member.person}/memory/2026-11-02.md" for member in members}
        for writer in members:
            text = reader.seen(f"{writer.person}/memory/2026-11-02.md") or ""
            assert [f"{writer.person} says {number}" in text for number in rounds] == [True] * len(rounds)


@RARELY_BY_GIT
async def test_same_person_on_two_machines_loses_nothing(members: Sequence[Member], tmp_path: Path) -> None:
    ana, ben = members
    again = await ana.beside(tmp_path / "laptop", "ana").open()
    await again.exchange()
    taken = await ana.promote("- W: to be taken back")
    await ana.exchange()
    await again.exchange()
    await ana.promote("- W: from the desk")
    await again.promote("- W: from the train")
    await again.sharing.revoke([taken.id])
    await ana.exchange()
    await again.exchange()
    await ana.exchange()
    await ben.exchange()
    texts = ben.seen("ana/memory/2026-11-02.md") or ""
    assert ("from the desk" in texts, "from the train" in texts, "taken back" in texts) == (True, True, False)
    assert texts == ana.seen("ana/memory/2026-11-02.md") == again.seen("ana/memory/2026-11-02.md")


@RARELY_BY_GIT
async def test_two_machines_keep_each_others_notes(members: Sequence[Member], tmp_path: Path) -> None:
    ana, ben = members
    laptop = await ana.beside(tmp_path / "laptop", "ana").open()
    ana.shared = SharedNotes({"memory/desk.md": "# Desk\n", "memory/both.md": "# Both\n"}, {})
    laptop.shared = SharedNotes({"memory/train.md": "# Train\n", "memory/both.md": "# Both\n"}, {})
    for member in (ana, laptop, ana, laptop, ben):
        await member.sharing.sync()
    assert ben.all_seen() == {"ana/memory/desk.md", "ana/memory/both.md", "ana/memory/train.md"}
    # a note that became private is removed
    ana.shared = SharedNotes({"memory/both.md": "# Both\n"}, {})
    for member in (ana, laptop, ben):
        await member.sharing.sync()
    assert ben.all_seen() == {"ana/memory/both.md", "ana/memory/train.md"}


@swept("is_sent", [True, False], 1)
async def test_change_sent_before_a_crash_and_revoked_elsewhere_is_not_resent(
    members: Sequence[Member], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_sent: bool
) -> None:
    """Ana's machine dies right before or right after the other side accepted the exchange."""
    ana, ben = members
    laptop = await ana.beside(tmp_path / "laptop", "ana").open()
    await laptop.promote("- W: from the train")
    await laptop.exchange()
    shared = await ana.promote("- W: to be taken back")
    with monkeypatch.context() as dying:
        if is_sent:
            dying.setattr(OwnFiles, "note", blow_up)
            push = TeamRepository.push

            async def pushed(self: TeamRepository, remote: str, commit: str) -> object:
                blow_up(await push(self, remote, commit))

            dying.setattr(TeamRepository, "push", pushed)
        else:
            dying.setattr(OwnFiles, "begin", blow_up)
            dying.setattr(TeamRepository, "push", blow_up)
        with pytest.raises(ZeroDivisionError):
            await ana.carrier.exchange()
    await laptop.exchange()
    assert len(await laptop.sharing.revoke([shared.id])) == is_sent
    await laptop.exchange()
    ana = await ana.again()
    await ana.promote("- W: from the desk")
    await ana.exchange()
    await ben.exchange()
    seen = ben.seen("ana/memory/2026-11-02.md") or ""
    assert [words in seen for words in ("from the train", "from the desk", "taken back")] == [True, True, not is_sent]


async def test_stranger_to_the_team_cannot_share(members: Sequence[Member], tmp_path: Path) -> None:
    carl = await members[0].beside(tmp_path / "carl", "carl").open()
    await carl.carrier.exchange()
    assert "you are not in the team" in carl.sharing.broken()
    with pytest.raises(InvalidRequest, match="not in the team"):
        await carl.sharing.promote(line("- W: hello"), DAY)
    assert await carl.carrier.known() == {}


async def test_local_view_is_rebuilt(members: Sequence[Member]) -> None:
    ana, _ = members
    await ana.promote("- W: one")
    (ana.notes / "ana" / "memory" / "2026-11-02.md").unlink()
    (ana.notes / "ana" / "stray.md").write_text("nobody shared this")
    (ana.notes / "ana" / "link.md").symlink_to("/etc/passwd")
    await ana.exchange()
    assert ana.all_seen() == {"ana/memory/2026-11-02.md"}
    assert (ana.notes / "ana" / "memory" / "2026-11-02.md").stat().st_mode & 0o777 == 0o600
    assert ana.notes.stat().st_mode & 0o777 == 0o700
    # an edit of it does not stay, even with the same size and time
    shown = ana.notes / "ana" / "memory" / "2026-11-02.md"
    before, text = shown.stat(), shown.read_text()
    shown.write_text(text.replace("one", "two"))
    os.utime(shown, ns=(before.st_atime_ns, before.st_mtime_ns))
    await ana.exchange()
    assert shown.read_text() == text


@RARELY_BY_GIT
async def test_memory_shared_by_two_machines_is_fully_revoked(members: Sequence[Member]) -> None:
    ana, ben = members
    twice = line("- W: said twice")
    for day in (DAY, DAY + timedelta(days=1)):
        made = with_promoted("", log_path("ana", day), [twice]).encode()
        await ana.carrier.apply(SharedChanges(put={log_path("ana", day): made}, why="test"))
    await ana.exchange()
    assert len(await ana.sharing.revoke([twice.id])) == 2
    await ana.exchange()
    await ben.exchange()
    assert ben.all_seen() == set()


async def test_exchange_without_news_lists_no_files(server: Postgres, tmp_path: Path) -> None:
    ana, ben = await server_team(server, tmp_path, "ana", "ben")
    await ana.promote("- W: one")
    for member in (ana, ben, ana, ben):
        await member.exchange()
    with server.connect() as admin:
        admin.execute("ALTER DATABASE postgres SET track_functions = 'all'")
        asked = "SELECT sum(calls) FROM pg_stat_user_functions WHERE funcname IN ('listed', 'bodies')"
        for member in (ana, ben):
            await member.exchange()
        assert admin.execute(asked).fetchone() == (None,)
        await ben.promote("- W: two")
        for member in (ben, ana):
            await member.exchange()
        assert admin.execute(asked).fetchone() != (None,)
    assert ana.all_seen() == {"ana/memory/2026-11-02.md", "ben/memory/2026-11-02.md"}


async def test_news_of_one_person_fetches_only_that_persons_files(server: Postgres, tmp_path: Path) -> None:
    ana, ben, carl = await server_team(server, tmp_path, "ana", "ben", "carl")
    await ben.promote("- W: one")
    for member in (ben, ana):
        await member.exchange()
    with server.connect() as admin:
        # without the trigger, only a full listing notices it
        admin.execute("ALTER TABLE memoryd.files DISABLE TRIGGER tell")
        admin.execute("DELETE FROM memoryd.files WHERE team = %s AND person = 'ben'", (ben.name,))
        admin.execute("ALTER TABLE memoryd.files ENABLE TRIGGER tell")
    await carl.promote("- W: two")
    for member in (carl, ana):
        await member.exchange()
    assert ana.all_seen() == {"ben/memory/2026-11-02.md", "carl/memory/2026-11-02.md"}
    again = await ana.again()
    await again.exchange()
    assert again.all_seen() == {"carl/memory/2026-11-02.md"}


async def test_large_exchange_is_sent_in_parts_over_a_slow_line(
    server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, ben = await server_team(server, tmp_path, "ana", "ben")
    ana.shared = SharedNotes({f"memory/{number}.md": f"# {number}\n" for number in range(6)}, {})
    slow = """
    ALTER FUNCTION memoryd.put RENAME TO quick_put;
    CREATE FUNCTION memoryd.put(asked text, place text, was bytea, now bytea) RETURNS boolean LANGUAGE sql AS $$
        SELECT pg_sleep(1); SELECT memoryd.quick_put(asked, place, was, now) $$;
    """
    monkeypatch.setattr(own_files, "PART_BYTES", 1)
    monkeypatch.setattr(postgres, "EXCHANGE_SECONDS", 4)
    with server.connect() as admin:
        admin.execute(slow)
        try:
            await ana.sharing.sync()
            assert ana.carrier.health().offline
            assert 0 < ana.carrier.health().pending < 6
            await ana.carrier.exchange()
        finally:
            admin.execute("DROP FUNCTION memoryd.put; ALTER FUNCTION memoryd.quick_put RENAME TO put")
    await ana.exchange()
    await ben.exchange()
    assert len(ben.all_seen()) == 6


async def test_malformed_rows_are_reported_and_remove_nothing(server: Postgres, tmp_path: Path) -> None:
    ana, ben = await server_team(server, tmp_path, "ana", "ben")
    await ben.promote("- W: one")
    await ana.promote("- W: two")
    for member in (ben, ana):
        await member.exchange()
    await ben.promote("- W: three")
    await ben.exchange()
    lie = """
    ALTER FUNCTION memoryd.listed RENAME TO true_listed;
    CREATE FUNCTION memoryd.listed(asked text, each_most int, known text[])
    RETURNS TABLE (person text, path text, digest bytea, size int) LANGUAGE sql AS $$
        SELECT NULL::text, NULL::text, NULL::bytea, NULL::int
        UNION ALL SELECT 'ben', 'notes/ben/memory/x.md', 'x'::bytea, NULL
        UNION ALL SELECT * FROM memoryd.true_listed(asked, each_most, known) $$;
    """
    with server.connect() as admin:
        admin.execute(lie)
        try:
            await ana.carrier.exchange()
            health = ana.carrier.health()
            assert "an invalid answer" in health.refused + health.broken
            assert ana.sharing.why_outdated()
        finally:
            admin.execute("DROP FUNCTION memoryd.listed; ALTER FUNCTION memoryd.true_listed RENAME TO listed")
    assert ana.all_seen() == {"ana/memory/2026-11-02.md", "ben/memory/2026-11-02.md"}
    await ana.exchange()
    assert "three" in (ana.seen("ben/memory/2026-11-02.md") or "")


async def test_silent_server_is_noticed_while_listening(
    server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [ana] = await server_team(server, tmp_path, "ana")
    await ana.exchange()
    monkeypatch.setattr(postgres, "PULSE_SECONDS", 0.2)
    news = asyncio.create_task(ana.carrier.news())
    await asyncio.sleep(1)
    assert not news.done()
    server.pause()
    try:
        with pytest.raises(SidecarError, match="does not answer"):
            await news
    finally:
        server.go_on()


async def test_too_many_shared_files_are_reported(
    server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, ben = await server_team(server, tmp_path, "ana", "ben")
    monkeypatch.setattr(postgres, "PERSON_FILES", 3)
    ana.shared = SharedNotes({f"memory/{number}.md": f"# {number}\n" for number in range(5)}, {})
    await ana.sharing.sync()
    await ben.exchange()
    assert len(ben.all_seen()) == 3
    for member in (ana, ben):
        reports = [trouble for trouble in member.sharing.troubles() if "ana shares more than" in trouble]
        # of others one more than the limit is listed
        assert len(reports) == (2 if member is ana else 1)


async def test_newest_memories_are_shown_if_too_many_are_shared(
    members: Sequence[Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, ben = members
    monkeypatch.setattr(attribution, "MAX_MEMORIES", 3)
    days = [DAY + timedelta(days=number) for number in range(3)]
    for day in days:
        for number in range(2):
            await ana.promote(f"- W @Peter: number {number} of {day}", day)
    await ben.promote("- W: of mine")
    for member in (ana, ben, ana):
        await member.exchange()
    newest = f"ana/memory/{days[-1]}.md"
    for member in (ana, ben):
        assert member.all_seen() == {newest, f"ben/memory/{DAY}.md"}
        reports = [trouble for trouble in member.sharing.troubles() if "ana shares more than 3 memories" in trouble]
        assert [trouble[-1] for trouble in reports] == ["2"]
        assert member.carrier.health().people == {"ana": 1, "ben": 1}
    # revoking makes room
    shared = await ana.sharing.memories()
    await ana.sharing.revoke([key for key, memory in shared.items() if str(days[-1]) in memory.path])
    await ana.exchange()
    await ben.exchange()
    assert f"ana/memory/{days[-2]}.md" in ben.all_seen()


async def test_server_restored_from_an_older_copy_is_completed(server: Postgres, tmp_path: Path) -> None:
    ana, ben = await server_team(server, tmp_path, "ana", "ben")
    with server.connect() as admin:
        [(change,)] = admin.execute(
            "SELECT changed FROM memoryd.members WHERE team = %s AND person = 'ana'", (ana.name,)
        ).fetchall()
    await ana.promote("- W: one")
    for member in (ana, ben):
        await member.exchange()
    with server.connect() as admin:
        admin.execute("ALTER TABLE memoryd.files DISABLE TRIGGER tell")
        admin.execute("DELETE FROM memoryd.files WHERE team = %s", (ana.name,))
        admin.execute("ALTER TABLE memoryd.files ENABLE TRIGGER tell")
        admin.execute("UPDATE memoryd.members SET changed = %s WHERE team = %s AND person = 'ana'", (change, ana.name))
    for number in range(3):
        await ben.promote(f"- W: two {number}")
        await ben.exchange()
    for member in (ana, ben):
        await member.exchange()
    assert ben.all_seen() == {"ana/memory/2026-11-02.md", "ben/memory/2026-11-02.md"}


async def test_new_team_of_the_same_name_gets_nothing_of_the_first(server: Postgres, tmp_path: Path) -> None:
    ana, _ = await server_team(server, tmp_path, "ana", "ben")
    await ana.promote("- W: for the first")
    await ana.exchange()
    with server.connect() as admin:
        admin.execute("DELETE FROM memoryd.teams WHERE name = %s", (ana.name,))
    await server_team(server, tmp_path / "other", "ana", "ben", name=ana.name)
    again = await ana.again()
    await again.exchange()
    with server.connect() as admin:
        assert admin.execute("SELECT * FROM memoryd.files WHERE team = %s", (ana.name,)).fetchall() == []
    await again.promote("- W: for the other")
    await again.exchange()
    assert "for the first" not in (again.seen("ana/memory/2026-11-02.md") or "")


async def test_tables_of_an_older_version_are_reported_and_migrated(tmp_path: Path) -> None:
    server = Postgres()
    try:
        [ana] = await server_team(server, tmp_path, "ana")
        with server.connect() as admin:
            admin.execute(VERSION_1)
        await ana.promote("- W: one")
        await ana.carrier.exchange()
        assert "team init again" in ana.carrier.health().refused
        begin(server.remote(), ana.name)
        await ana.exchange()
        with server.connect() as admin:
            assert admin.execute("SELECT max(version) FROM memoryd.meta").fetchone() == (2,)
    finally:
        server.stop()


async def exchange_succeeds(member: Member) -> bool:
    await member.carrier.exchange()
    return not member.carrier.health().offline


async def test_large_update_arrives_over_several_exchanges(
    server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, ben = await server_team(server, tmp_path, "ana", "ben")
    ana.shared = SharedNotes({f"memory/{number}.md": f"# {number}\n" for number in range(2 * BATCH)}, {})
    await ana.sharing.sync()
    slow = """
    ALTER FUNCTION memoryd.bodies RENAME TO quick_bodies;
    CREATE FUNCTION memoryd.bodies(asked text, whose text[], wanted text[])
    RETURNS TABLE (person text, path text, body bytea) LANGUAGE sql AS $$
        SELECT pg_sleep(2); SELECT * FROM memoryd.quick_bodies(asked, whose, wanted) $$;
    """
    monkeypatch.setattr(postgres, "EXCHANGE_SECONDS", 3.5)
    with server.connect() as admin:
        admin.execute(slow)
        try:
            await ben.carrier.exchange()
            assert ben.carrier.health().offline
            # on a busy machine the rest may take several
            await eventually_async(partial(exchange_succeeds, ben))
            await ben.exchange()
        finally:
            admin.execute("DROP FUNCTION memoryd.bodies; ALTER FUNCTION memoryd.quick_bodies RENAME TO bodies")
    assert len(ben.all_seen()) == 2 * BATCH


async def test_full_disk_of_the_server_is_reported_and_loses_nothing(server: Postgres, tmp_path: Path) -> None:
    ana, ben = await server_team(server, tmp_path, "ana", "ben")
    await ben.promote("- W: goes on")
    await ben.exchange()
    full = """
    CREATE FUNCTION memoryd.full() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER is_full BEFORE INSERT ON memoryd.files EXECUTE FUNCTION memoryd.full();
    """
    with server.connect() as admin:
        admin.execute(full)
        try:
            await ana.promote("- W: waits")
            await ana.carrier.exchange()
            health = ana.carrier.health()
            assert ("No space left" in health.refused, health.pending) == (True, 1)
            assert ana.seen("ben/memory/2026-11-02.md")
        finally:
            admin.execute("DROP FUNCTION memoryd.full CASCADE")
    await ana.exchange()
    await ben.exchange()
    assert ben.seen("ana/memory/2026-11-02.md") == "## Retain\n- W: waits\n"


@pytest.mark.torture
async def test_standby_takes_over_when_it_is_promoted(tmp_path: Path) -> None:
    first = Postgres()
    standby = Postgres(first)
    try:
        [member] = await server_team(first, tmp_path, "ana")
        alone = ServerMember(tmp_path / "alone", standby, "ana", member.name)

        async def is_refused() -> bool:
            await alone.carrier.exchange()
            return "read-only" in alone.carrier.health().offline

        await eventually_async(is_refused)
        first.standbys.append(standby)
        ana = await member.again()
        await ana.promote("- W: before")
        await ana.exchange()
        with first.connect() as admin:
            position = admin.execute("SELECT pg_current_wal_lsn()").fetchone()
        with standby.connect() as admin:
            eventually(lambda: admin.execute("SELECT pg_last_wal_replay_lsn() >= %s", position).fetchone() == (True,))
            first.kill()
            await ana.promote("- W: while nobody answers")
            await ana.carrier.exchange()
            assert (ana.carrier.health().offline != "", ana.carrier.health().pending) == (True, 1)
            admin.execute("SELECT pg_promote()")
        await ana.exchange()
        await alone.exchange()
        assert alone.seen("ana/memory/2026-11-02.md") == "## Retain\n- W: before\n- W: while nobody answers\n"
    finally:
        standby.stop()
        first.stop()
