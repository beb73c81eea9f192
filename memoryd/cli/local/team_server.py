"""memoryctl team on a PostgreSQL server: begin a team, join it, and say who is in it."""

import asyncio
import shutil
from collections.abc import Iterator, Sequence
from typing import TypedDict

import click
from pydantic import ValidationError

from memoryd.cli.invocation import Invocation, argument, flag, verb
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

NO_SERVER = "name the server, such as postgresql://postgres@host/memory"
STAYS = "what they read before stays where it was copied to"
KEEPS = "what they shared stays in the team; --with-files removes it"
server_option = click.option(
    "--server", metavar="URL", help="The server, and as whom; unset: that of the team that you are in."
)
name_option = click.option("--team", "name", metavar="NAME", help="The team; unset: the one that you are in.")


class MembersReply(TypedDict):
    """Who is in a team on a server."""

    name: str
    members: list[dict[str, str]]
    notes: list[str]


def begin_on_server(invocation: Invocation, server: str, name: str, people: Sequence[str]) -> Exit:
    """Make the tables of a team, and have people in it: the first one owns it, unless somebody does."""
    name, checked = _name("name", name), [_name("person", one) for one in people]
    begin(server, name)
    before = roles(server, name)
    wanted = {one: before.get(one, MemberRole.WRITE) for one in checked}
    if MemberRole.OWNER not in before.values():
        wanted |= dict.fromkeys(checked[:1], MemberRole.OWNER)
    made = [person for person, role in wanted.items() if set_role(server, name, person, role)]
    place = server.rpartition("://")[2].rpartition("@")[2] or "HOST/DATABASE"
    notes = [f"{person} has a login without a password: give it one, by \\password {person}" for person in made]
    notes += [f"{one} types: memoryctl team join postgresql://{one}@{place} --name {name}" for one in checked]
    notes += [f"{one} owns the team, and takes others in" for one in checked[:1] if wanted[one] is MemberRole.OWNER]
    return _show(invocation, server, name, notes)


def check_server(server: str, name: str) -> str:
    """Return as whom a server is reached, once it was; raises NotNow, InvalidRequest for who is not in the team."""
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
@verb
def members_command(invocation: Invocation, server: str | None, name: str | None) -> Exit | None:
    """Say who is in a team on a server, and as what."""
    if click.get_current_context().invoked_subcommand is not None:
        return None
    return _show(invocation, *_meant(server, name), [])


@members_command.command("add")
@argument("person", metavar="NAME", help="Their login on the server, by which they are cited.")
@click.option(
    "--role",
    type=click.Choice([one.value for one in MemberRole]),
    default=MemberRole.WRITE.value,
    help="What they may do.",
)
@server_option
@name_option
@verb
def add(invocation: Invocation, person: str, role: str, server: str | None, name: str | None) -> Exit:
    """Take somebody into the team, or give them another role; a login that is not there is made."""
    place, team = _meant(server, name)
    person = _name("person", person)
    is_new = set_role(place, team, person, MemberRole(role))
    return _show(invocation, place, team, [f"{person} has a login without a password"] if is_new else [])


@members_command.command("remove")
@argument("person", metavar="NAME", help="Whom to take out.")
@flag("--with-files", help="Remove what they shared, too.")
@server_option
@name_option
@verb
def take_out(invocation: Invocation, person: str, with_files: bool, server: str | None, name: str | None) -> Exit:
    """Take somebody out of the team: the server shows them nothing of it any more."""
    place, team = _meant(server, name)
    remove(place, team, person, with_files=with_files)
    return _show(invocation, place, team, [STAYS, *([] if with_files else [KEEPS])])


def _name(key: str, text: str) -> str:
    """Return a name as the configuration has it; raises InvalidRequest for one that it has not."""
    try:
        section = TeamSection.model_validate({key: text})
    except ValidationError as exc:
        raise InvalidRequest(f"{text!r}: {exc.errors()[0]['msg'].removeprefix('Value error, ')}") from exc
    return str(getattr(section, key))


def _meant(server: str | None, name: str | None) -> tuple[str, str]:
    section = load().config.team
    place, team = server or section.remote or "", name or section.name
    if not place.startswith(SERVER):
        raise InvalidRequest(NO_SERVER, hint="--server")
    if not team:
        raise Disabled("you are in no team", hint="--team names it")
    return place, team


def _show(invocation: Invocation, server: str, name: str, notes: list[str]) -> Exit:
    try:
        found = roles(server, name)
    except MemorydError as exc:
        found, notes = {}, [*notes, str(exc)]
    members = [{"name": one, "role": role.value} for one, role in found.items()]
    return invocation.show(MembersReply(name=name, members=members, notes=notes), _lines(name, members), notes)


def _lines(name: str, members: Sequence[dict[str, str]]) -> Iterator[str]:
    yield bold(name)
    yield from (harmless_line(f"  {one['name']}  {one['role']}") for one in members)
