"""A team on a real PostgreSQL server, with a daemon for each person: sharing and permissions."""

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memoryd.client.calls import Client
from memoryd.team.members import begin
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config
from tests.postgres import Postgres
from tests.waiting import eventually

PUT = "INSERT INTO memoryd.files VALUES (%s, %s, %s, sha256(%s), %s)"
KEY = "The castle key hangs behind the green door."


class Person:
    """A person with a daemon."""

    def __init__(self, home: Path, name: str, *lines: str) -> None:
        self.name = name
        workspace = home / "workspace"
        (workspace / "memory").mkdir(parents=True)
        (workspace / "memory" / "2026-11-02.md").write_text("\n".join(["## Retain", *lines, ""]))
        self.daemon = RunningDaemon(home, write_config(home, workspace, None), workspace)

    def memoryctl(self, *arguments: str, expected: Exit = Exit.DONE) -> str:
        result = self.daemon.memoryctl(*arguments)
        assert result.returncode == expected, result.stdout + result.stderr
        return result.stdout + result.stderr

    def recalled(self, question: str) -> list[Any]:
        with Client(self.daemon.socket) as client:
            return [item for item in client.recall(question, k=5)["results"] if item["is"] == "memory"]

    def id_of(self, word: str) -> str:
        return next(memory["id"] for memory in self.daemon.client().memories()["memories"] if word in memory["text"])

    def team(self) -> Any:
        return json.loads(self.memoryctl("team", "status", "--json"))


def by_others(person: Person, question: str, author: str | None = None) -> list[Any]:
    """Return what a person recalls of somebody else, or of one author."""
    items = [item for item in person.recalled(question) if item.get("person")]
    return [item for item in items if author in (None, item["person"])]


class Acme:
    """Ana and ben in team acme, and carl outside it."""

    def __init__(self, folder: Path) -> None:
        self.server = Postgres()
        self.ana = Person(folder / "ana", "ana", f"- W(from=user) @Castle: {KEY}", "- W @Wifi: password is hunter2xyz")
        self.ben = Person(folder / "ben", "ben", "- W @Cat: The cat of the house is called Miso.")
        self.carl = Person(folder / "carl", "carl")
        admin = ("team", "init", self.server.remote(), "--name", "acme")
        self.began = self.ana.memoryctl(*admin, "--member", "ana", "--member", "ben")
        with self.server.connect() as server:
            server.execute("CREATE ROLE carl LOGIN")
        for person in (self.ana, self.ben):
            person.memoryctl("team", "join", self.server.remote(person.name), "--name", "acme")
            person.daemon.start()

    def close(self) -> None:
        for person in (self.ana, self.ben):
            person.daemon.stop()
        self.server.stop()


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acme]:
    team = Acme(tmp_path_factory.mktemp("acme"))
    yield team
    team.close()


def test_promoted_memory_is_recalled_by_the_other_soon(acme: Acme) -> None:
    assert all(text in acme.began for text in ("ana owner", "ben write", "ana owns the team"))
    eventually(lambda: acme.ben.team()["fetchedAt"])
    shared = acme.ana.memoryctl("team", "promote", acme.ana.id_of("castle"), "--yes")
    assert "read by ana, ben" in shared
    eventually(lambda: by_others(acme.ben, "where is the castle key", "ana"))
    [found] = by_others(acme.ben, "where is the castle key")
    assert (found["content"], found["source"]) == (KEY, "ana:memory/2026-11-02.md#L2")
    acme.ana.memoryctl("team", "revoke", acme.ana.id_of("castle"))
    eventually(lambda: not by_others(acme.ben, "where is the castle key"))


def test_suspected_secret_never_leaves(acme: Acme) -> None:
    refused = acme.ana.memoryctl("team", "promote", acme.ana.id_of("hunter2"), "--yes", expected=Exit.ERROR)
    assert "secret" in refused
    with acme.server.connect() as server:
        assert all(b"hunter2" not in bytes(body) for (body,) in server.execute("SELECT body FROM memoryd.files"))
    data = b"".join(path.read_bytes() for path in acme.server.data.rglob("*") if path.is_file())
    assert b"hunter2" not in data


def test_forgetting_revokes_a_shared_memory(acme: Acme) -> None:
    reply = acme.ben.daemon.client().retain("W @Bike: The bike stands in shed nine.")
    acme.ben.memoryctl("team", "promote", reply["id"], "--yes")
    eventually(lambda: by_others(acme.ana, "where is the bike", "ben"))
    receipt = acme.ben.memoryctl("forget", reply["id"], "--yes")
    assert "a member of team acme who is offline, until it is brought up to date" in receipt
    eventually(lambda: not by_others(acme.ana, "where is the bike"))
    with acme.server.connect() as server:
        bodies = server.execute("SELECT body FROM memoryd.files WHERE person = 'ben'")
        assert all(b"shed nine" not in bytes(body) for (body,) in bodies)


def test_every_key_starts_with_the_team(acme: Acme) -> None:
    keys = """
    SELECT c.conrelid::regclass::text, a.attname::text FROM pg_constraint c
        JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
        WHERE c.connamespace = 'memoryd'::regnamespace AND c.contype IN ('p', 'u', 'f')
    UNION ALL
    SELECT i.indrelid::regclass::text, a.attname::text FROM pg_index i
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        JOIN pg_class t ON t.oid = i.indrelid AND t.relnamespace = 'memoryd'::regnamespace
    """
    with acme.server.connect() as server:
        first = set(server.execute(keys).fetchall()) - {("memoryd.meta", "version")}
        assert server.execute("SELECT 1 FROM pg_policies WHERE schemaname = 'memoryd'").fetchall() == []
    assert first == {("memoryd.teams", "name"), ("memoryd.members", "team"), ("memoryd.files", "team")}


@pytest.fixture
def shared(acme: Acme) -> Iterator[Acme]:
    acme.ana.memoryctl("team", "promote", acme.ana.id_of("castle"), "--yes")
    yield acme
    acme.ana.memoryctl("team", "revoke", acme.ana.id_of("castle"))


BY_STRANGERS = (
    "SET ROLE ana",
    "SET ROLE postgres",
    "SET SESSION AUTHORIZATION ana",
    "INSERT INTO memoryd.files VALUES ('acme', 'carl', 'x', sha256('x'), 'x')",
    "SELECT * FROM memoryd.files",
    "SELECT count(*) FROM memoryd.teams",
    "SELECT * FROM memoryd.members",
    "SELECT memoryd.enrol('acme', 'carl', 'owner')",
    "SELECT memoryd.dismiss('acme', 'ana', true)",
    "INSERT INTO memoryd.members VALUES ('acme', 'carl', 'owner')",
    "UPDATE memoryd.teams SET channel = 'x'",
    "SELECT * FROM pg_catalog.pg_statistic",
)


def permitted(acme: Acme, person: str, statements: tuple[str, ...]) -> list[str]:
    """Return the statements that the server executes for a person."""
    done = []
    for statement in statements:
        with suppress(psycopg.Error), acme.server.connect(person) as server:
            server.execute(statement)
            done.append(statement)
    return done


def test_outsider_may_execute_nothing(shared: Acme) -> None:
    assert permitted(shared, "carl", BY_STRANGERS) == []


QUERIES = (
    "SELECT * FROM memoryd.standing(%s)",
    "SELECT * FROM memoryd.people(%s)",
    "SELECT * FROM memoryd.listed(%s, 99)",
    "SELECT * FROM memoryd.bodies(%s, '{ana}', '{memory/2026-11-02-ana.md}')",
)


def test_outsider_cannot_learn_whether_a_team_exists(shared: Acme) -> None:
    with shared.server.connect("ana") as server:
        assert all(server.execute(query, ("acme",)).fetchall() for query in QUERIES)
    with shared.server.connect("carl") as server:
        for team, query in product(("acme", "nothere"), QUERIES):
            assert server.execute(query, (team,)).fetchall() == []
            plan = server.execute(f"EXPLAIN (ANALYZE, TIMING off, COSTS off) {query}", (team,)).fetchall()
            assert "Removed" not in str(plan)
        messages = []
        for team in ("acme", "nothere"):
            with pytest.raises(psycopg.Error) as refused:
                server.execute("SELECT memoryd.put(%s, 'notes/carl/memory/x.md', NULL, 'x')", (team,))
            messages.append(str(refused.value))
        assert messages[0] == messages[1]


def test_outsider_finds_no_values_in_column_statistics(shared: Acme) -> None:
    with shared.server.connect() as server:
        server.execute("ANALYZE memoryd.files")
    with shared.server.connect("carl") as server:
        assert server.execute("SELECT * FROM pg_stats WHERE schemaname = 'memoryd'").fetchall() == []
    joined = ("team", "join", shared.server.remote("carl"), "--name", "acme")
    assert "not in the team" in shared.carl.memoryctl(*joined, expected=Exit.ERROR)


FORGED = (
    "INSERT INTO memoryd.files VALUES ('acme', 'ana', 'notes/ana/memory/x.md', sha256('x'), 'x')",
    "UPDATE memoryd.files SET person = 'ana' WHERE person = 'ben'",
    "SELECT memoryd.enrol('acme', 'carl', 'read')",
    "SELECT memoryd.dismiss('acme', 'ana', true)",
    "ALTER TABLE memoryd.files DISABLE ROW LEVEL SECURITY",
    "DROP POLICY read ON memoryd.files",
    "INSERT INTO memoryd.members VALUES ('acme', 'carl', 'read')",
    "INSERT INTO memoryd.files VALUES ('acme', 'ben', 'notes/ben/memory/l.md', sha256('l'), 'lie')",
    "TRUNCATE memoryd.files",
)


def test_nobody_writes_as_somebody_else(shared: Acme) -> None:
    with shared.server.connect() as server:
        server.execute("INSERT INTO memoryd.files VALUES ('acme', 'ben', 'notes/ben/memory/b.md', sha256('b'), 'b')")
    try:
        assert permitted(shared, "ben", FORGED) == []
        with shared.server.connect("ben") as server:
            # the only way to write uses his own name, whatever the path
            path = "memory/2026-11-02-ana.md"
            assert server.execute("SELECT memoryd.put('acme', %s, NULL, 'forged')", (path,)).fetchone() == (True,)
            rows = server.execute("SELECT person FROM memoryd.listed('acme', 99) WHERE path = %s", (path,)).fetchall()
            assert ("ben",) in rows
    finally:
        with shared.server.connect() as server:
            server.execute("DELETE FROM memoryd.files WHERE person = 'ben'")


def test_forged_rows_affect_nothing_else(shared: Acme) -> None:
    rows = {
        "notes/ben/../../escape.md": b"x",
        "memory/2026-11-02-ana.md": b"## Retain\n- W @Castle: forged\n",
        "notes/ana/memory/forged.md": b"forged",
        "notes/dora/memory/bytes.md": b"\xff\xfe\x00broken",
        "notes/dora/memory/half.md": b"<<<<<<< HEAD\nx\n",
        "notes/dora/memory/right.md": b"# Right\n\nThe lighthouse is lit at nine.\n",
        "/etc/passwd.md": b"x",
    }
    with shared.server.connect() as server:
        for path, body in rows.items():
            server.execute(PUT, ("acme", "dora", path, body, body))
    try:
        shared.ben.memoryctl("team", "sync")
        notes = shared.ben.daemon.state / "teams" / "acme" / "notes"
        assert {str(path.relative_to(notes)) for path in (notes / "dora").rglob("*.md")} == {"dora/memory/right.md"}
        assert len(shared.ben.team()["trouble"]) == len(rows) - 1
        client = shared.ben.daemon.client()
        eventually(lambda: client.search("when is the lighthouse lit")["results"])
        assert client.search("when is the lighthouse lit")["results"][0]["path"] == "dora:memory/right.md"
        eventually(lambda: by_others(shared.ben, "where is the castle key"))
        assert [item["content"] for item in by_others(shared.ben, "where is the castle key")] == [KEY]
    finally:
        with shared.server.connect() as server:
            server.execute("DELETE FROM memoryd.files WHERE person = 'dora'")
        shared.ben.memoryctl("team", "sync")
    assert shared.ben.team()["trouble"] == []


def test_stopped_or_hanging_server_loses_nothing(acme: Acme) -> None:
    client = acme.ana.daemon.client()
    reply = client.retain("W @Boat: The boat lies at pier four.")
    acme.server.kill()
    output = acme.ana.memoryctl("team", "promote", reply["id"], "--yes")
    assert "waits to be sent" in output
    status = acme.ana.team()
    assert status["published"]["pending"] == 1
    assert status["offline"]
    # a restart in between loses nothing
    acme.ana.daemon.kill()
    acme.ana.daemon.start()
    acme.server.start()
    acme.server.pause()
    began = time.monotonic()
    assert client.recall("where is the boat")["results"]
    assert time.monotonic() - began < 5
    acme.ana.memoryctl("team", "sync", expected=Exit.ERROR)
    output = acme.ana.memoryctl("doctor", "--section", "team")
    assert ("try `psql`" in output, "ls-remote" in output) == (True, False)
    acme.server.go_on()
    acme.ana.memoryctl("team", "sync")
    assert acme.ana.team()["published"]["pending"] == 0
    acme.ben.memoryctl("team", "sync")
    eventually(lambda: by_others(acme.ben, "where is the boat", "ana"))


def test_removed_member_sees_nothing_any_more(acme: Acme) -> None:
    acme.ana.memoryctl("team", "promote", acme.ana.id_of("castle"), "--yes")
    eventually(lambda: by_others(acme.ben, "where is the castle key"))
    server = ("--server", acme.server.remote(), "--team", "acme")
    assert "ben" not in acme.ana.memoryctl("team", "members", "remove", "ben", *server)
    assert "not in the team" in acme.ben.memoryctl("team", "sync", expected=Exit.ERROR)
    eventually(lambda: not by_others(acme.ben, "where is the castle key"))
    refused = acme.ben.memoryctl("team", "promote", acme.ben.id_of("Miso"), "--yes", expected=Exit.ERROR)
    assert "not in the team" in refused
    # running init again, as after an upgrade, changes no roles
    begin_again = ("team", "init", acme.server.remote(), "--name", "acme")
    again = acme.ana.memoryctl(*begin_again, "--member", "ben", "--member", "ana")
    assert ("ben write" in again, "ana owner" in again, "owns" in again) == (True, True, False)
    assert "only an owner" in acme.ben.memoryctl("team", "members", "add", "carl", expected=Exit.ERROR)
    assert "only an owner" in acme.ben.memoryctl("team", "members", "remove", "ana", expected=Exit.ERROR)
    unmade = acme.ana.memoryctl("team", "members", "add", "dan", expected=Exit.ERROR)
    assert "ask a person who may create logins there to type CREATE ROLE dan LOGIN" in unmade
    assert "ben read" in acme.ana.memoryctl("team", "members", "add", "ben", "--role", "read", *server)
    acme.ben.memoryctl("team", "sync")
    eventually(lambda: by_others(acme.ben, "where is the castle key"))
    refused = acme.ben.memoryctl("team", "promote", acme.ben.id_of("Miso"), "--yes", expected=Exit.ERROR)
    assert "not share" in refused
    # an owner may remove a member whoever added them
    own = ("--server", acme.server.remote("ana"), "--team", "acme")
    with acme.server.connect() as admin:
        admin.execute(PUT, ("acme", "ben", "notes/ben/memory/left.md", b"x", b"x"))
    left = acme.ana.memoryctl("team", "members", "remove", "ben", "--with-files", *own)
    assert ("ben" not in left.partition("note:")[0], "ana owner" in left) == (True, True)
    with acme.server.connect() as admin:
        assert admin.execute("SELECT * FROM memoryd.files WHERE person = 'ben'").fetchall() == []
    place = ("--server", acme.server.remote("ben"), "--team", "acme")
    assert "no team acme" in acme.ben.memoryctl("team", "members", "add", "ben", *place, expected=Exit.ERROR)
    # restore the team for other tests
    acme.ana.memoryctl("team", "revoke", acme.ana.id_of("castle"))
    acme.ana.memoryctl("team", "members", "add", "ben", *own)
    acme.ben.memoryctl("team", "sync")


def test_rows_of_the_server_are_written_only_to_own_files(tmp_path: Path, acme: Acme) -> None:
    target = tmp_path / "bashrc"
    target.write_text("mine")
    paths = (str(target), f"../../../../../../../../../..{target}", "notes/ben/memory/x.md", "memory/x.md")
    with acme.server.connect() as server:
        for path in paths:
            server.execute(PUT, ("acme", "ana", path, b"theirs", b"theirs"))
    acme.ana.memoryctl("team", "sync")
    with acme.server.connect() as server:
        server.execute("DELETE FROM memoryd.files WHERE body = 'theirs'")
    acme.ana.memoryctl("team", "sync")
    assert target.read_text() == "mine"


def test_unrequested_answer_of_the_server_writes_nothing(tmp_path: Path, acme: Acme) -> None:
    target = tmp_path / "profile"
    target.write_text("mine")
    lie = f"""
    CREATE OR REPLACE FUNCTION memoryd.bodies(asked text, whose text[], wanted text[])
    RETURNS TABLE (person text, path text, body bytea) LANGUAGE sql SECURITY DEFINER AS $$
        SELECT 'ana', '{target}', 'theirs'::bytea UNION ALL SELECT 'ana', wanted[1], 'x'::bytea $$;
    """
    with acme.server.connect() as server:
        server.execute(lie)
        server.execute(PUT, ("acme", "ana", "notes/ana/memory/new.md", b"new", b"new"))
    try:
        acme.ana.memoryctl("team", "sync")
        assert target.read_text() == "mine"
    finally:
        begin(acme.server.remote(), "acme")
        with acme.server.connect() as server:
            server.execute("DELETE FROM memoryd.files WHERE path = 'notes/ana/memory/new.md'")
        acme.ana.memoryctl("team", "sync")


def test_older_copy_of_the_server_revokes_nothing(acme: Acme) -> None:
    acme.ana.memoryctl("team", "promote", acme.ana.id_of("castle"), "--yes")
    with acme.server.connect() as server:
        server.execute("DELETE FROM memoryd.files")
        server.execute("UPDATE memoryd.teams SET generation = 1")
    acme.ana.memoryctl("team", "sync")
    with acme.server.connect() as server:
        bodies = server.execute("SELECT body FROM memoryd.files WHERE person = 'ana'").fetchall()
    assert any(b"castle" in bytes(body) for (body,) in bodies)
