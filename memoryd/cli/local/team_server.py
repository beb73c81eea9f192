"""memoryctl team on a PostgreSQL server: begin a team, join it, and manage its members."""

import asyncio
import shutil
from collections.abc import Iterator, Sequence
from typing import TypedDict

import click
from pydantic import ValidationError

from memoryd.cli.invocation import Invocation, argument, flag, with_invocation
from memoryd.cli.terminal import bold, harmless_line
from memoryd.config.loading.load import load
from memoryd.config.paths import team_dir
from memoryd.config.team import SERVER, TeamSection
from memoryd.errors import ConfigError, Disabled, InvalidRequest, MemorydError, NotNow
from memoryd.team.sharing import NO_DRIVER
from memoryd.wire import Exit

try:
    from memoryd.team.members import MemberRole, begin, login_of, remove, roles, set_role
    from memoryd.team.postgres import PostgresCarrier
    from memoryd.team.protocol import TeamPlace
except ImportError as exc:
    raise ConfigError([NO_DRIVER]) from exc

server_option = click.option(
    "--server", metavar="URL", help="The server with your login; unset: the server of your team."
)
name_option = click.option("--team", "name", metavar="NAME", help="The team; unset: your team.")


class MembersReply(TypedDict):
    """The members of a team on a server."""

    name: str
    members: list[dict[str, str]]
    notes: list[str]


def begin_on_server(invocation: Invocation, server: str, name: str, people: Sequence[str]) -> Exit:
    """Create the tables of a team and add people; the first person becomes the owner if there is none."""
    name, logins = _name("name", name), [_name("person", person) for person in people]
    begin(server, name)
    before = roles(server, name)
    wanted = {login: before.get(login, MemberRole.WRITE) for login in logins}
    if MemberRole.OWNER not in before.values():
        wanted |= dict.fromkeys(logins[:1], MemberRole.OWNER)
    created = [login for login, role in wanted.items() if set_role(server, name, login, role)]
    place = server.rpartition("://")[2].rpartition("@")[2] or "HOST/DATABASE"
    notes = [f"{login} has a login without a password: give it one, by \\password {login}" for login in created]
    notes += [f"{login} types: memoryctl team join postgresql://{login}@{place} --name {name}" for login in logins]
    if logins and wanted[logins[0]] is MemberRole.OWNER:
        notes.append(f"{logins[0]} owns the team, and takes others in")
    return _show(invocation, server, name, notes)


def check_server(server: str, name: str) -> str:
    """Exchange with a server, and return your login; raises NotNow, or InvalidRequest if you are not in the team."""
    draft = team_dir(".new")
    shutil.rmtree(draft, ignore_errors=True)
    person = _name("person", login_of(server))
    place = TeamPlace(remote=server, person=person, checkout=draft / "own", is_own=True, notes=draft / "notes")
    carrier = PostgresCarrier(place, name)
    try:
        asyncio.run(carrier.exchange())
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    health = carrier.health()
    if health.offline:
        raise NotNow(health.offline, hint="see whether psql reaches it")
    if health.broken:
        raise InvalidRequest(health.broken)
    return person


@click.group("members", invoke_without_command=True)
@server_option
@name_option
@with_invocation
def members_command(invocation: Invocation, server: str | None, name: str | None) -> Exit | None:
    """Show the members of a team on a server, and their roles."""
    if click.get_current_context().invoked_subcommand is not None:
        return None
    return _show(invocation, *_target(server, name), [])


@members_command.command("add")
@argument("person", metavar="NAME", help="Their login on the server, by which they are cited.")
@click.option(
    "--role",
    type=click.Choice([role.value for role in MemberRole]),
    default=MemberRole.WRITE.value,
    help="What they may do.",
)
@server_option
@name_option
@with_invocation
def add(invocation: Invocation, person: str, role: str, server: str | None, name: str | None) -> Exit:
    """Add a person to the team, or change their role; a missing login is created."""
    place, team = _target(server, name)
    person = _name("person", person)
    is_new = set_role(place, team, person, MemberRole(role))
    return _show(invocation, place, team, [f"{person} has a login without a password"] if is_new else [])


@members_command.command("remove")
@argument("person", metavar="NAME", help="The login of the person.")
@flag("--with-files", help="Also remove what they shared.")
@server_option
@name_option
@with_invocation
def take_out(invocation: Invocation, person: str, with_files: bool, server: str | None, name: str | None) -> Exit:
    """Remove a person from the team: the server no longer shows them its memories."""
    place, team = _target(server, name)
    remove(place, team, person, with_files=with_files)
    notes = ["what they read before stays where it was copied to"]
    if not with_files:
        notes.append("what they shared stays in the team; --with-files removes it")
    return _show(invocation, place, team, notes)


def _name(key: str, text: str) -> str:
    """Return a name in the form of the configuration; raises InvalidRequest for an invalid name."""
    try:
        section = TeamSection.model_validate({key: text})
    except ValidationError as exc:
        raise InvalidRequest(f"{text!r}: {exc.errors()[0]['msg'].removeprefix('Value error, ')}") from exc
    return str(getattr(section, key))


def _target(server: str | None, name: str | None) -> tuple[str, str]:
    section = load().config.team
    place, team = server or section.remote or "", name or section.name
    if not place.startswith(SERVER):
        raise InvalidRequest("name the server, such as postgresql://postgres@host/memory", hint="--server")
    if not team:
        raise Disabled("you are in no team", hint="--team names it")
    return place, team


def _show(invocation: Invocation, server: str, name: str, notes: list[str]) -> Exit:
    try:
        members = [{"name": login, "role": role.value} for login, role in roles(server, name).items()]
    except MemorydError as exc:
        members, notes = [], [*notes, str(exc)]
    return invocation.show(MembersReply(name=name, members=members, notes=notes), _lines(name, members), notes)


def _lines(name: str, members: Sequence[dict[str, str]]) -> Iterator[str]:
    yield bold(name)
    yield from (harmless_line(f"  {member['name']}  {member['role']}") for member in members)
