"""Begins a team on a PostgreSQL server, and says who is in it: what its owner does, seldom and by hand."""

import contextlib
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

import psycopg
from psycopg import sql

from memoryd.errors import InvalidRequest, SidecarError
from memoryd.team.postgres import connection_options, sentence
from memoryd.team.schema import GRANTS, MEMBERS, NEWS, POLICIES, READERS, SCHEMA, TABLES, VERSION, WRITERS, WRITES

NO_LOGIN: Final = "the server knows no login {}, and you may not make one"
NEWER: Final = "the server has the tables of a newer memoryd (version {})"
NO_RIGHT: Final = "your login may not do that: {}"

ServerConnection = psycopg.Connection[tuple[str, ...]]


class MemberRole(StrEnum):
    """What somebody may do in a team."""

    READ = "read"
    WRITE = "write"
    OWNER = "owner"
    """Take others in and out, too."""


def begin(remote: str, team: str) -> None:
    """Make the tables and the roles of a team, whatever of it is there; raises SidecarError, InvalidRequest."""
    with connected(remote) as server:
        _check_version(server)
        server.execute(TABLES)
        server.execute("INSERT INTO memoryd.meta VALUES (%s) ON CONFLICT DO NOTHING", (VERSION,))
        for table, name, says in POLICIES:
            place = sql.Identifier(SCHEMA, table)
            server.execute(sql.SQL("DROP POLICY IF EXISTS {} ON {}").format(sql.Identifier(name), place))
            server.execute(sql.SQL("CREATE POLICY {} ON {} " + says).format(sql.Identifier(name), place))
        server.execute(NEWS)
        for role in (READERS.format(team), WRITERS.format(team)):
            if not _has_role(server, role):
                server.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
            server.execute(sql.SQL(GRANTS).format(role=sql.Identifier(role)))
        server.execute(sql.SQL(WRITES).format(role=sql.Identifier(WRITERS.format(team))))
        server.execute("INSERT INTO memoryd.teams VALUES (%s) ON CONFLICT DO NOTHING", (team,))


def set_role(remote: str, team: str, person: str, role: MemberRole) -> bool:
    """Give somebody a role in a team, whatever it was before; return whether their login was made for it.

    Raises SidecarError, InvalidRequest.
    """
    with connected(remote) as server:
        _check_team(server, team)
        is_new = not _has_role(server, person)
        if is_new:
            try:
                server.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(person)))
            except psycopg.errors.InsufficientPrivilege as exc:
                raise InvalidRequest(NO_LOGIN.format(person), hint=f"CREATE ROLE {person} LOGIN") from exc
        option = sql.SQL(" WITH ADMIN OPTION" if role is MemberRole.OWNER else "")
        readers, writers, login = (sql.Identifier(one) for one in (READERS.format(team), WRITERS.format(team), person))
        _take_out(server, team, person)
        server.execute(sql.SQL("GRANT {} TO {}").format(readers, login) + option)
        if role is not MemberRole.READ:
            server.execute(sql.SQL("GRANT {} TO {}").format(writers, login) + option)
        return is_new


def remove(remote: str, team: str, person: str, *, with_files: bool) -> int:
    """Take somebody out of a team; return how many of their files were removed from it, with `with_files`.

    The login stays, and what it may do elsewhere. Raises SidecarError, InvalidRequest.
    """
    with connected(remote) as server:
        _check_team(server, team)
        _take_out(server, team, person)
        if not with_files:
            return 0
        return server.execute("DELETE FROM memoryd.files WHERE team = %s AND person = %s", (team, person)).rowcount


def roles(remote: str, team: str) -> dict[str, MemberRole]:
    """Return who is in a team, and as what; raises SidecarError, InvalidRequest."""
    with connected(remote) as server:
        _check_team(server, team)
        readers, writers = ({name for (name,) in server.execute(MEMBERS, (one.format(team),))} for one in _BOTH)
        owners = {name for (name,) in server.execute(_OWNERS, (READERS.format(team),))}
    return {
        one: MemberRole.OWNER if one in owners else MemberRole.WRITE if one in writers else MemberRole.READ
        for one in sorted(readers)
    }


_BOTH: Final = (READERS, WRITERS)
_OWNERS: Final = f"{MEMBERS.replace('ORDER BY', 'AND a.admin_option ORDER BY')}"


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


def _take_out(server: ServerConnection, team: str, person: str) -> None:
    for role in (WRITERS.format(team), READERS.format(team)):
        server.execute(sql.SQL("REVOKE {} FROM {} CASCADE").format(sql.Identifier(role), sql.Identifier(person)))


def _check_version(server: ServerConnection) -> None:
    if server.execute("SELECT 1 FROM pg_tables WHERE schemaname = %s", (SCHEMA,)).fetchone() is None:
        return
    found = server.execute("SELECT max(version) FROM memoryd.meta").fetchone()
    if found is not None and int(found[0] or 0) > VERSION:
        raise InvalidRequest(NEWER.format(found[0]), hint="use that memoryd here, too")


def _check_team(server: ServerConnection, team: str) -> None:
    if not _has_role(server, READERS.format(team)):
        raise InvalidRequest(f"the server has no team {team}", hint="memoryctl team init makes it")


def _has_role(server: ServerConnection, name: str) -> bool:
    return server.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)).fetchone() is not None
