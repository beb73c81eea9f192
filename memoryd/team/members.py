"""A PostgreSQL server of teams: how it is reached, how its owner begins a team there and says who is in it."""

import contextlib
import getpass
import os
from collections.abc import Iterator
from enum import StrEnum

import psycopg
from psycopg import conninfo, sql

from memoryd.errors import InvalidRequest, SidecarError
from memoryd.team.schema import FUNCTIONS, SCHEMA, TABLES, VERSION

CONNECT_SECONDS = 1
_PLACES = {"host": "PGHOST", "hostaddr": "PGHOSTADDR"}
_LOCAL = ("", "localhost", "127.0.0.1", "::1")
OLDER = "the server has the tables of an older memoryd: who rules them types memoryctl team init again"
NO_LOGIN = "the server knows no login {}, and you may not make one"
NO_LOGIN_HINT = "have somebody who may make logins there type CREATE ROLE {} LOGIN, then try again"
OWNERS_ALONE = "only an owner of the team, or who rules its tables, may do that"
NEWER = "the server has the tables of a newer memoryd (version {})"
NO_RIGHT = "your login may not do that: {}"

ServerConnection = psycopg.Connection[tuple[str, ...]]


class MemberRole(StrEnum):
    """What somebody may do in a team."""

    READ = "read"
    WRITE = "write"
    OWNER = "owner"
    """Take others in and out, too."""


def connection_options(remote: str) -> dict[str, str]:
    """Return how a server is reached; raise SidecarError for an address that names a password, or is none.

    Away from this machine its certificate is verified, whatever the address says. Of several hosts that is asked which
    can be written: a standby that was promoted takes over.
    """
    try:
        found = conninfo.conninfo_to_dict(remote)
    except psycopg.ProgrammingError as exc:
        # not repeated: a password may stand anywhere in it
        raise SidecarError("the address of the team is none of a PostgreSQL server") from exc
    if found.get("password"):
        raise SidecarError("the address holds a password", hint="write it into ~/.pgpass, for its owner alone (0600)")
    places = (found.get(key) or os.environ.get(name, "") for key, name in _PLACES.items())
    hosts = [host for place in places for host in str(place).split(",")]
    # what a service names is not known here; a socket needs no certificate whatever is asked
    is_known = not found.get("service") and not os.environ.get("PGSERVICE")
    is_local = is_known and all(host in _LOCAL or host.startswith(("/", "@")) for host in hosts)
    secure = {} if is_local else {"sslmode": "verify-full"}
    options = {key: str(value) for key, value in found.items() if value is not None}
    options = {"target_session_attrs": "read-write", **options}
    return {**options, **secure, "connect_timeout": str(CONNECT_SECONDS), "application_name": "memoryd"}


def login_of(remote: str) -> str:
    """Return as whom a server is reached; raise as `connection_options` does."""
    return connection_options(remote).get("user", "") or os.environ.get("PGUSER", "") or getpass.getuser()


def begin(remote: str, team: str) -> None:
    """Make the tables and a team, whatever of it is there; raises SidecarError, InvalidRequest."""
    with connected(remote) as server:
        _check_version(server)
        server.execute(TABLES)
        server.execute(FUNCTIONS)
        server.execute("INSERT INTO memoryd.meta VALUES (%s) ON CONFLICT DO NOTHING", (VERSION,))
        server.execute("INSERT INTO memoryd.teams (name) VALUES (%s) ON CONFLICT DO NOTHING", (team,))


def set_role(remote: str, team: str, person: str, role: MemberRole) -> bool:
    """Give somebody a role in a team, whatever it was before; return whether their login was made for it.

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
    """Take somebody out of a team; return how many of their files were removed from it, with `with_files`.

    The login stays, and what it may do elsewhere. Raises SidecarError, InvalidRequest.
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
    """Return who is in a team, and as what; raises SidecarError, InvalidRequest."""
    with connected(remote) as server:
        _check_team(server, team)
        rows = server.execute("SELECT person, role FROM memoryd.people(%s)", (team,))
        return {person: MemberRole(role) for person, role in rows}


def sentence(exc: psycopg.Error) -> str:
    """Return what the server or the driver says, on one line and without what is not shown."""
    if isinstance(exc, psycopg.errors.UndefinedFunction | psycopg.errors.UndefinedColumn):
        return OLDER
    return " ".join(str(exc).split())[:300] or type(exc).__name__


@contextlib.contextmanager
def connected(remote: str) -> Iterator[ServerConnection]:
    """Connect for one transaction; raises SidecarError where nobody answers, InvalidRequest for who has no right."""
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
    found = server.execute("SELECT max(version) FROM memoryd.meta").fetchone()
    if found is not None and int(found[0] or 0) > VERSION:
        raise InvalidRequest(NEWER.format(found[0]), hint="use that memoryd here, too")


def _check_team(server: ServerConnection, team: str) -> None:
    try:
        with server.transaction():
            found = server.execute("SELECT memoryd.rules() OR memoryd.may(%s, 'owner', 'write', 'read')", (team,))
            is_there = (found.fetchone() or (False,))[0]
    except (psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName, psycopg.errors.InsufficientPrivilege):
        is_there = False
    if not is_there:
        raise InvalidRequest(f"the server has no team {team} that you are in", hint="memoryctl team init makes one")
