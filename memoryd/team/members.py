"""A PostgreSQL server of teams: connect to it, create a team, and manage its members.

A team on the server consists of its members, their shared files, and functions, which are the only access: no one may
use the tables directly. The functions check the login (`session_user`), so that no setting and no SET ROLE can change
the identity. For a person outside of the team they read no row: with row security alone, query plans and timing would
reveal rows. No extension is needed, and every key begins with the team. The channel for notifications of a team is
known to its members only.
"""

import contextlib
import getpass
import os
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple, TypeVar

import msgspec
import psycopg
from psycopg import conninfo, sql

from memoryd.errors import InvalidRequest, SidecarError

CONNECT_SECONDS = 1
_PLACES = {"host": "PGHOST", "hostaddr": "PGHOSTADDR"}
_LOCAL = ("", "localhost", "127.0.0.1", "::1")
OLDER = "the server has the tables of an older memoryd: who rules them types memoryctl team init again"
NO_LOGIN = "the server knows no login {}, and you may not make one"
NO_LOGIN_HINT = "ask a person who may create logins there to type CREATE ROLE {} LOGIN, then try again"
OWNERS_ALONE = "only an owner of the team, or who rules its tables, may do that"
NEWER = "the server has the tables of a newer memoryd (version {})"
NO_RIGHT = "your login may not do that: {}"

ServerConnection = psycopg.Connection[tuple[str, ...]]


class MemberRole(StrEnum):
    """The rights of a member of a team."""

    READ = "read"
    WRITE = "write"
    OWNER = "owner"
    """May also add and remove members."""


def connection_options(remote: str) -> dict[str, str]:
    """Return the connection options for a server. Raises SidecarError for an invalid address, or one with a password.

    The certificate of a server on another machine is always verified, whatever the address says. Of several hosts the
    writable one is used, so that a promoted standby takes over.
    """
    try:
        parsed = conninfo.conninfo_to_dict(remote)
    except psycopg.ProgrammingError as exc:
        # the address is not repeated, as it may contain a password
        raise SidecarError("the address of the team is none of a PostgreSQL server") from exc
    if parsed.get("password"):
        raise SidecarError("the address holds a password", hint="write it into ~/.pgpass, for its owner alone (0600)")
    places = (parsed.get(key) or os.environ.get(name, "") for key, name in _PLACES.items())
    hosts = [host for place in places for host in str(place).split(",")]
    # the hosts of a service are unknown here; a socket needs no certificate
    is_known = not parsed.get("service") and not os.environ.get("PGSERVICE")
    is_local = is_known and all(host in _LOCAL or host.startswith(("/", "@")) for host in hosts)
    secure = {} if is_local else {"sslmode": "verify-full"}
    options = {key: str(value) for key, value in parsed.items() if value is not None}
    options = {"target_session_attrs": "read-write", **options}
    return {**options, **secure, "connect_timeout": str(CONNECT_SECONDS), "application_name": "memoryd"}


def login_of(remote: str) -> str:
    """Return the login used for a server. Raises like `connection_options`."""
    return connection_options(remote).get("user", "") or os.environ.get("PGUSER", "") or getpass.getuser()


def begin(remote: str, team: str) -> None:
    """Create the tables and a team, as far as they are missing. Raises SidecarError, InvalidRequest."""
    with connected(remote) as server:
        _check_version(server)
        server.execute(TABLES)
        server.execute(FUNCTIONS)
        server.execute("INSERT INTO memoryd.meta VALUES (%s) ON CONFLICT DO NOTHING", (VERSION,))
        server.execute("INSERT INTO memoryd.teams (name) VALUES (%s) ON CONFLICT DO NOTHING", (team,))


def set_role(remote: str, team: str, person: str, role: MemberRole) -> bool:
    """Give a person a role in a team, in place of an earlier role. Return whether a login was created.

    Raises SidecarError, InvalidRequest.
    """
    with connected(remote) as server:
        _check_team(server, team)
        is_new = server.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (person,)).fetchone() is None
        _as_owner(server, "SELECT memoryd.enrol(%s, %s, %s)", (team, person, role.value))
        if is_new:
            try:
                server.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(person)))
            except psycopg.errors.InsufficientPrivilege as exc:
                raise InvalidRequest(NO_LOGIN.format(person), hint=NO_LOGIN_HINT.format(person)) from exc
        return is_new


def remove(remote: str, team: str, person: str, *, with_files: bool) -> int:
    """Remove a person from a team, and their files if `with_files`. Return the number of removed files.

    The login and its other rights stay. Raises SidecarError, InvalidRequest.
    """
    with connected(remote) as server:
        _check_team(server, team)
        row = _as_owner(server, "SELECT memoryd.dismiss(%s, %s, %s)", (team, person, with_files)).fetchone()
        return int(row[0]) if row is not None else 0


def _as_owner(server: ServerConnection, query: str, values: tuple[object, ...]) -> psycopg.Cursor[tuple[str, ...]]:
    try:
        return server.execute(query, values)
    except psycopg.errors.InsufficientPrivilege as exc:
        raise InvalidRequest(OWNERS_ALONE, hint="memoryctl team members says who owns it") from exc


def roles(remote: str, team: str) -> dict[str, MemberRole]:
    """Return the roles of the members of a team. Raises SidecarError, InvalidRequest."""
    with connected(remote) as server:
        _check_team(server, team)
        rows = server.execute("SELECT person, role FROM memoryd.people(%s)", (team,))
        return {person: MemberRole(role) for person, role in rows}


def sentence(exc: psycopg.Error) -> str:
    """Return the error message of the server or the driver on one line, at most 300 characters."""
    if isinstance(exc, psycopg.errors.UndefinedFunction | psycopg.errors.UndefinedColumn):
        return OLDER
    return " ".join(str(exc).split())[:300] or type(exc).__name__


@contextlib.contextmanager
def connected(remote: str) -> Iterator[ServerConnection]:
    """Connect for one transaction. Raises SidecarError for errors of the server, InvalidRequest for missing rights."""
    try:
        server = psycopg.connect(**connection_options(remote))  # type: ignore[arg-type]
    except psycopg.OperationalError as exc:
        raise SidecarError(sentence(exc)) from exc
    try:
        with server:
            yield server
    except psycopg.errors.InsufficientPrivilege as exc:
        raise InvalidRequest(NO_RIGHT.format(sentence(exc)), hint="ask who owns the team, or the server") from exc
    except psycopg.Error as exc:
        raise SidecarError(sentence(exc)) from exc


def _check_version(server: ServerConnection) -> None:
    if server.execute("SELECT 1 FROM pg_tables WHERE schemaname = %s", (SCHEMA,)).fetchone() is None:
        return
    row = server.execute("SELECT max(version) FROM memoryd.meta").fetchone()
    if row is not None and int(row[0] or 0) > VERSION:
        raise InvalidRequest(NEWER.format(row[0]), hint="use that memoryd here, too")


def _check_team(server: ServerConnection, team: str) -> None:
    try:
        with server.transaction():
            cursor = server.execute("SELECT memoryd.rules() OR memoryd.may(%s, 'owner', 'write', 'read')", (team,))
            is_allowed = (cursor.fetchone() or (False,))[0]
    except (psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName, psycopg.errors.InsufficientPrivilege):
        is_allowed = False
    if not is_allowed:
        raise InvalidRequest(f"the server has no team {team} that you are in", hint="memoryctl team init makes one")


T = TypeVar("T")

SCHEMA = "memoryd"
VERSION = 2

TABLES = """
CREATE SCHEMA IF NOT EXISTS memoryd;
CREATE TABLE IF NOT EXISTS memoryd.meta (version int PRIMARY KEY);
CREATE TABLE IF NOT EXISTS memoryd.teams (
    name text PRIMARY KEY CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,31}$'),
    channel text NOT NULL DEFAULT 'memoryd_' || replace(gen_random_uuid()::text, '-', ''),
    generation bigint NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS memoryd.members (
    team text NOT NULL REFERENCES memoryd.teams (name) ON DELETE CASCADE,
    person text NOT NULL CHECK (person ~ '^[a-z0-9][a-z0-9_-]{0,31}$'),
    role text NOT NULL CHECK (role IN ('read', 'write', 'owner')),
    PRIMARY KEY (team, person)
);
CREATE TABLE IF NOT EXISTS memoryd.files (
    team text NOT NULL REFERENCES memoryd.teams (name) ON DELETE CASCADE,
    person text NOT NULL,
    path text NOT NULL CHECK (char_length(path) <= 240),
    digest bytea NOT NULL,
    body bytea NOT NULL CHECK (octet_length(body) <= 1048576),
    PRIMARY KEY (team, person, path),
    CHECK (digest = sha256(body))
);
ALTER TABLE memoryd.members ADD COLUMN IF NOT EXISTS changed uuid NOT NULL DEFAULT gen_random_uuid();
ALTER TABLE memoryd.meta ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoryd.teams ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoryd.members ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoryd.files ENABLE ROW LEVEL SECURITY;
REVOKE ALL ON ALL TABLES IN SCHEMA memoryd FROM PUBLIC;
"""
"""Statements that can be repeated, also on the tables of version 1, which had no column `changed`; its value is new
whenever a file of the member changes. Row security without a policy hides all rows from anyone but the owner."""
_BODY = "LANGUAGE plpgsql SECURITY DEFINER SET search_path = memoryd, pg_temp"
FUNCTIONS = f"""
CREATE OR REPLACE FUNCTION memoryd.tell() RETURNS trigger {_BODY} AS $$
DECLARE told text;
BEGIN
    UPDATE teams SET generation = generation + 1 WHERE name = coalesce(NEW.team, OLD.team) RETURNING channel INTO told;
    IF TG_TABLE_NAME = 'files' THEN
        UPDATE members SET changed = gen_random_uuid()
            WHERE team = coalesce(NEW.team, OLD.team) AND person = coalesce(NEW.person, OLD.person);
    END IF;
    IF told IS NOT NULL THEN PERFORM pg_notify(told, ''); END IF;
    RETURN NULL;
END $$;
DROP TRIGGER IF EXISTS tell ON memoryd.files;
CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON memoryd.files FOR EACH ROW EXECUTE FUNCTION memoryd.tell();
DROP TRIGGER IF EXISTS tell ON memoryd.members;
CREATE TRIGGER tell AFTER INSERT OR UPDATE OF role OR DELETE ON memoryd.members
    FOR EACH ROW EXECUTE FUNCTION memoryd.tell();

CREATE OR REPLACE FUNCTION memoryd.standing(asked text)
RETURNS TABLE (channel text, generation bigint, role text) {_BODY} STABLE AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT t.channel, t.generation, m.role FROM members m JOIN teams t ON t.name = m.team
        WHERE m.team = asked AND m.person = session_user;
END $$;

CREATE OR REPLACE FUNCTION memoryd.may(asked text, VARIADIC roles text[]) RETURNS boolean {_BODY} STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM members m WHERE m.team = asked AND m.person = session_user AND m.role = ANY (roles));
END $$;

DROP FUNCTION IF EXISTS memoryd.people;
CREATE FUNCTION memoryd.people(asked text)
RETURNS TABLE (person text, role text, changed uuid) {_BODY} STABLE AS $$
#variable_conflict use_column
BEGIN
    IF may(asked, 'read', 'write', 'owner') OR rules() THEN
        RETURN QUERY SELECT m.person, m.role, m.changed FROM members m WHERE m.team = asked ORDER BY m.person;
    END IF;
END $$;

DROP FUNCTION IF EXISTS memoryd.listed;
CREATE FUNCTION memoryd.listed(asked text, each_most int, known text[] DEFAULT '{{}}')
RETURNS TABLE (person text, path text, digest bytea, size int) {_BODY} STABLE AS $$
#variable_conflict use_column
BEGIN
    IF may(asked, 'read', 'write', 'owner') THEN
        RETURN QUERY SELECT n.person, n.path, n.digest, n.size FROM (
            SELECT f.person, f.path, f.digest, octet_length(f.body) AS size,
                row_number() OVER (PARTITION BY f.person ORDER BY f.path) AS place
            FROM files f WHERE f.team = asked AND f.person <> ALL (known)
        ) AS n WHERE n.place <= each_most OR n.person = session_user ORDER BY n.person, n.path;
    END IF;
END $$;

CREATE OR REPLACE FUNCTION memoryd.bodies(asked text, whose text[], wanted text[])
RETURNS TABLE (person text, path text, body bytea) {_BODY} STABLE AS $$
#variable_conflict use_column
BEGIN
    IF may(asked, 'read', 'write', 'owner') THEN
        RETURN QUERY SELECT f.person, f.path, f.body FROM unnest(whose, wanted) AS w (person, path)
            JOIN files f ON f.team = asked AND f.person = w.person AND f.path = w.path;
    END IF;
END $$;

CREATE OR REPLACE FUNCTION memoryd.put(asked text, place text, was bytea, now bytea) RETURNS boolean {_BODY} AS $$
DECLARE done int;
BEGIN
    IF NOT may(asked, 'write', 'owner') THEN
        RAISE insufficient_privilege;
    END IF;
    IF now IS NULL THEN
        DELETE FROM files f WHERE f.team = asked AND f.person = session_user AND f.path = place AND f.digest = was;
    ELSIF was IS NULL THEN
        INSERT INTO files VALUES (asked, session_user, place, sha256(now), now) ON CONFLICT DO NOTHING;
    ELSE
        UPDATE files f SET digest = sha256(now), body = now
            WHERE f.team = asked AND f.person = session_user AND f.path = place AND f.digest = was;
    END IF;
    GET DIAGNOSTICS done = ROW_COUNT;
    RETURN done = 1;
END $$;

CREATE OR REPLACE FUNCTION memoryd.rules() RETURNS boolean {_BODY} STABLE AS $$
BEGIN
    RETURN pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = 'memoryd.files'::regclass), 'MEMBER');
END $$;

CREATE OR REPLACE FUNCTION memoryd.enrol(asked text, who text, as_role text) RETURNS void {_BODY} AS $$
BEGIN
    IF NOT (may(asked, 'owner') OR rules()) THEN
        RAISE insufficient_privilege;
    END IF;
    INSERT INTO members VALUES (asked, who, as_role)
        ON CONFLICT (team, person) DO UPDATE SET role = excluded.role;
END $$;

CREATE OR REPLACE FUNCTION memoryd.dismiss(asked text, who text, with_files boolean) RETURNS int {_BODY} AS $$
DECLARE gone int := 0;
BEGIN
    IF NOT (may(asked, 'owner') OR rules()) THEN
        RAISE insufficient_privilege;
    END IF;
    IF with_files THEN
        DELETE FROM files f WHERE f.team = asked AND f.person = who;
        GET DIAGNOSTICS gone = ROW_COUNT;
    END IF;
    DELETE FROM members m WHERE m.team = asked AND m.person = who;
    RETURN gone;
END $$;

GRANT USAGE ON SCHEMA memoryd TO PUBLIC;
"""
TEAM_STATE = "SELECT channel, generation, role FROM memoryd.standing(%s)"
PEOPLE = "SELECT person, changed FROM memoryd.people(%s)"
LISTED = "SELECT person, path, digest, size FROM memoryd.listed(%s, %s, %s)"
BODIES = "SELECT person, path, body FROM memoryd.bodies(%s, %s, %s)"
PUT = "SELECT memoryd.put(%s, %s, %s, %s)"
TRANSACTION = "SELECT pg_current_xact_id()::text"
STATUS = "SELECT pg_xact_status(%s::text::xid8)"


class TeamState(NamedTuple):
    """The state of a team: its channel for notifications, the number of changes so far, and the role of the login."""

    channel: str
    generation: int
    role: str


class ListedFile(NamedTuple):
    """A file in the list of a server; `path` has the layout of a repository, `size` is in bytes."""

    person: str
    path: str
    digest: bytes
    size: int


async def query_rows(server: psycopg.AsyncConnection, query: str, values: tuple[object, ...], kind: type[T]) -> list[T]:
    """Return the rows of a query as `kind`. Raises SidecarError for rows of another shape: a server is not trusted."""
    rows = await (await server.execute(query, values)).fetchall()
    try:
        return msgspec.convert(rows, list[kind])  # type: ignore[valid-type]  # a list type made at run time
    except msgspec.ValidationError as exc:
        raise SidecarError(f"the server gives an invalid answer: {exc}") from exc
