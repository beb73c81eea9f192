"""memoryctl team: begin, join or leave a team, share memories and take them back.

`init`, `join` and `leave` work without a daemon, and make a running daemon reload the configuration.
"""

import asyncio
import shutil
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypedDict

import click

from memoryd import log
from memoryd.cli.invocation import SHORT_ID, Invocation, Note, argument, command_from_call, flag, with_invocation
from memoryd.cli.memory.changes import run_confirmed, sure_option
from memoryd.cli.terminal import bold, count, harmless, harmless_line, minute, style
from memoryd.client import Client
from memoryd.config.loading.load import config_to_edit, load, load_text
from memoryd.config.loading.raw import parse, value_at, with_value, without_key
from memoryd.config.paths import team_dir
from memoryd.config.team import SERVER, TeamSection, is_on_disk, without_credentials
from memoryd.domain.access import folded_id
from memoryd.domain.memories.sharing import TeamPeople
from memoryd.errors import Disabled, InvalidRequest, MemorydError, NotNow
from memoryd.replies.changes import TeamPromoteReply, TeamReply, TeamRevokeReply
from memoryd.team.carrier import GitCarrier
from memoryd.team.git import address_of, make_bare
from memoryd.team.protocol import Carrier, TeamPlace
from memoryd.team.sharing import carrier_of
from memoryd.wire import Exit

_SECTION = "team"
_MEMBERS = "members"


class JoinedReply(TypedDict):
    """The reply of `init`, `join` and `leave`."""

    name: str
    person: str
    remote: str
    people: list[str]
    config: str
    notes: list[str]


git_option = click.option(
    "--git", "remote", metavar="PATH|URL", help="The repository: a bare one in a folder, or an address."
)
person_option = click.option("--person", metavar="NAME", help="Your name in citations; on a server that is your login.")
server_argument = argument(
    "server", required=False, metavar="[SERVER]", help="Instead of a repository: postgresql://LOGIN@HOST/DATABASE."
)


class TeamGroup(click.Group):
    """Loads the `members` command, which imports the driver of the server, only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), _MEMBERS])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name != _MEMBERS:
            return super().get_command(ctx, cmd_name)
        from memoryd.cli.local.team_server import members_command

        return members_command


@click.group("team", cls=TeamGroup)
def team_command() -> None:
    """Share memories with the people of a team, by a git repository or a PostgreSQL server."""
    # errors are in the reply
    log.configure("WARNING")


@team_command.command("init")
@server_argument
@git_option
@click.option("--name", required=True, metavar="NAME", help="The name of the team.")
@person_option
@click.option(
    "--member",
    "members",
    multiple=True,
    metavar="LOGIN",
    help="A member on a server, the owner first; may be given again.",
)
@with_invocation
def init(
    invocation: Invocation,
    server: str | None,
    remote: str | None,
    name: str,
    person: str | None,
    members: tuple[str, ...],
) -> Exit:
    """Begin a team, in a repository that is empty (a folder that is not there becomes one) or on a server."""
    if server is not None:
        _check_server_alone(server, remote, person)
        from memoryd.cli.local.team_server import begin_on_server

        return begin_on_server(invocation, server, name, members)
    remote, person = _git_place(remote, person)
    section = _planned(invocation, remote, name, person)[2]
    if is_on_disk(remote):
        make_bare(Path(remote))
    return _enter(invocation, remote, person, lambda carrier: _begun(carrier, section))


@team_command.command("join")
@server_argument
@git_option
@click.option("--name", metavar="NAME", help="The name of the team, on a server.")
@person_option
@with_invocation
def join(invocation: Invocation, server: str | None, remote: str | None, name: str | None, person: str | None) -> Exit:
    """Join an existing team."""
    if server is not None:
        _check_server_alone(server, remote, person)
        if name is None:
            raise click.UsageError("--name says which team of the server")
        from memoryd.cli.local.team_server import check_server

        login = check_server(server, name)
        _clear_folder(_planned(invocation, server, name, login)[2])
        return _write_joined(invocation, server, name, login, [])
    remote, person = _git_place(remote, person)
    section = _planned(invocation, remote, "team-to-join", person)[2]
    return _enter(invocation, remote, person, lambda carrier: _joined(carrier, section))


def _enter(
    invocation: Invocation, remote: str, person: str, enter: Callable[[GitCarrier], Coroutine[Any, Any, TeamPeople]]
) -> Exit:
    """Enter a team in a draft folder, then fetch it into its own folder and write the configuration."""
    draft = team_dir(".new")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        people = asyncio.run(enter(_carrier(remote, person, draft)))
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    section = _planned(invocation, remote, people.name, person)[2]
    _clear_folder(section)
    # fetch everything now, in case the network fails before the daemon does it
    asyncio.run(_carrier(remote, person, section.folder).exchange())
    return _write_joined(invocation, remote, people.name, person, sorted(people.people))


def _clear_folder(section: TeamSection) -> None:
    """Delete the folder of a former team with this name, unless you are in a team now."""
    if not load().config.team.is_joined:
        shutil.rmtree(section.folder, ignore_errors=True)


def _git_place(remote: str | None, person: str | None) -> tuple[str, str]:
    if remote is None or person is None:
        raise click.UsageError("name a repository by --git and yourself by --person, or a server")
    if without_credentials(remote) != remote:
        raise InvalidRequest(
            "the address holds a password or a token, which would be written into the configuration",
            hint="name it without, and have git keep that: git help credentials",
        )
    return address_of(remote), folded_id(person)


def _check_server_alone(server: str, remote: str | None, person: str | None) -> None:
    if not server.startswith(SERVER):
        raise click.UsageError(f"{server} is no server: it begins with postgresql://; a repository is named by --git")
    if remote is not None or person is not None:
        raise click.UsageError("on a server you are called as your login, and nothing is named by --git or --person")


def _write_joined(invocation: Invocation, remote: str, name: str, person: str, names: list[str]) -> Exit:
    # here: it imports the file layer
    from memoryd.cli.written_file import write_config

    path, text, section = _planned(invocation, remote, name, person)
    backup = write_config(invocation, path, text)
    notes = [f"the file as it was before: {backup}"] if backup else []
    reply = JoinedReply(
        name=name, person=section.person or person, remote=remote, people=names, config=str(path), notes=notes
    )
    line = f"{style(name, bold=True)}  you are {reply['person']}{', of ' if names else ''}{', '.join(names)}"
    return invocation.show(reply, [harmless_line(line)], [*notes, "memoryctl team promote ID shares a memory"])


async def _begun(carrier: GitCarrier, section: TeamSection) -> TeamPeople:
    await _reach(carrier)
    if (before := await carrier.people_or_none()) is not None:
        raise InvalidRequest(f"{section.remote} holds team {before.name} already", hint="memoryctl team join joins it")
    people = TeamPeople(section.name or "", {}).with_person(section.person or "", await carrier.repository.author())
    return await _written(carrier, people, f"begin team {people.name}")


async def _joined(carrier: GitCarrier, section: TeamSection) -> TeamPeople:
    mail = await carrier.repository.author()
    await _reach(carrier)
    people, person = await carrier.people(), section.person or ""
    if not people.people.get(person):
        # another person may take the name first, which is checked below
        people = await _written(carrier, people.with_person(person, mail), f"{person} joins")
    if not people.has_address(person, mail):
        raise InvalidRequest(
            f"{person} is in the team already, by another address than {mail}, by which git knows you",
            hint="join by another name; or, if that is you, give git the same address here",
        )
    return people


async def _reach(carrier: GitCarrier) -> None:
    """Open the carrier and exchange; raises NotNow if the repository cannot be reached."""
    await carrier.open()
    await carrier.exchange()
    if carrier.health().offline:
        raise NotNow(carrier.health().offline, hint="see whether `git ls-remote` reaches it")


async def _written(carrier: GitCarrier, people: TeamPeople, why: str) -> TeamPeople:
    await carrier.create_team(people, why)
    await carrier.exchange()
    health = carrier.health()
    if health.pending:
        raise MemorydError(f"the repository was not written: {health.refused or health.offline or health.broken}")
    return await carrier.people()


def _carrier(remote: str, person: str, folder: Path) -> GitCarrier:
    return GitCarrier(
        TeamPlace(remote=remote, person=person, checkout=folder / "checkout", is_own=True, notes=folder / "notes")
    )


def _planned(invocation: Invocation, remote: str, name: str, person: str) -> tuple[Path, str, TeamSection]:
    """Return path and text of the configuration with a team, and its section.

    Raises InvalidRequest if you are in another team, and ConfigError.
    """
    current = load().config.team
    # a repository has one team and its name, a server may have several teams
    is_other = current.remote is not None and (address_of(current.remote), current.person) != (remote, person)
    if is_other or (current.is_on_server and current.name != folded_id(name)):
        raise InvalidRequest(f"you are in team {current.name} already", hint="memoryctl team leave")
    path, text = config_to_edit(f"the section `{_SECTION}`")
    for key, value in (("person", person), ("name", name), ("remote", remote)):
        text = with_value(text, (_SECTION, key), value)
    if invocation.agent is not None:
        text = with_value(text, (_SECTION, "agent"), invocation.agent)
    return path, text, load_text(text, path).config.team


@team_command.command("leave")
@flag("--yes", "is_sure", help="Leave even if changes of yours were not sent.")
@with_invocation
def leave(invocation: Invocation, is_sure: bool) -> Exit:
    """Leave the team: its memory is removed from this machine; what you shared stays where it is."""
    section = load().config.team
    if not section.is_joined:
        raise Disabled("you are in no team")
    unsent = asyncio.run(_unsent(carrier_of(section)))
    if unsent and not is_sure:
        raise NotNow(unsent, hint="see memoryctl team status; --yes leaves all the same")
    # here, as above
    from memoryd.cli.written_file import write_config

    path, text = config_to_edit(f"the section `{_SECTION}`")
    if value_at(parse(text, path), (_SECTION,)) is not None:
        backup = write_config(invocation, path, without_key(text, _SECTION))
        notes = [f"the file as it was before: {backup}"] if backup else []
    else:
        notes = ["the team is not named in the file: unset what names it, such as variables"]
    shutil.rmtree(section.folder, ignore_errors=True)
    notes.append("what you shared stays with the team: memoryctl team revoke takes a memory back, before you leave")
    if not section.is_on_server:
        notes.append("your name stays in team.json of the repository")
    if section.checkout is not None:
        notes.append(f"your checkout stays: {section.checkout_folder}")
    reply = JoinedReply(
        name=section.name or "",
        person=section.person or "",
        remote=without_credentials(section.remote or ""),
        people=[],
        config=str(path),
        notes=notes,
    )
    return invocation.show(reply, [harmless_line(f"you left team {section.name}")], notes)


async def _unsent(carrier: Carrier) -> str:
    """Try to send, and return a message about unsent files and the reason; empty if all is sent."""
    await carrier.exchange()
    health = carrier.health()
    why = health.offline or health.refused or health.broken
    return f"{count(health.pending, 'file')} wait to be sent: {why}" if health.pending else ""


@team_command.command("promote")
@argument(
    "target", metavar="ID|CITATION", help="The id of a memory or its beginning, or a citation such as memory/x.md#L12."
)
@flag("--dry-run", "is_dry", help="Only say what would be shared, and who would read it.")
@sure_option
@with_invocation
def promote(invocation: Invocation, target: str, is_dry: bool, is_sure: bool) -> Exit:
    """Share a memory with the team, after showing the line and who will read it."""
    return run_confirmed(
        invocation,
        lambda: invocation.memory.promote_memory(target, dry_run=True),
        # the id of the shown memory: the line at a citation may have changed since
        lambda plan: invocation.memory.promote_memory(plan["id"]),
        _promoted_lines,
        what="share",
        is_dry=is_dry,
        is_sure=is_sure,
    )


def _promoted_lines(reply: TeamPromoteReply) -> Iterator[str]:
    """Yield the shared line, its author and its readers."""
    state = "shared" if reply["promoted"] else "would be shared"
    yield f"{bold(reply['citation'])}  {reply['id'][:SHORT_ID]}  {state}"
    yield f"  {harmless(reply['line'])}"
    readers = harmless_line(", ".join(reply["readers"]))
    yield f"  by {harmless_line(reply['author'])}, read by {readers}, and everyone else with access to what carries it"
    yield from map(Note, reply["notes"])


@team_command.command("revoke")
@argument(
    "target", metavar="ID|CITATION", help="The id of a memory of yours, or a citation such as ana:memory/x.md#L12."
)
@flag("--dry-run", help="Only say what would be taken back.")
@command_from_call(Client.revoke_memory)
def revoke(reply: TeamRevokeReply) -> Iterator[str]:
    """Take a memory of yours back from the team, and say what cannot be reached."""
    state = "taken back" if reply["changed"] else "would be taken back"
    yield from (f"{bold(citation)}  {state}" for citation in reply["revoked"])
    yield "  out of reach:"
    yield from (f"  - {harmless_line(copy)}" for copy in reply["stays"])


@team_command.command("sync")
@with_invocation
def sync(invocation: Invocation) -> Exit:
    """Bring in what others shared, and send what waits."""
    reply = invocation.memory.sync_team()
    is_well = not (reply["offline"] or reply["published"]["pending"])
    return invocation.show(reply, _status_lines(reply), code=Exit.DONE if is_well else Exit.ERROR)


@team_command.command("status")
@with_invocation
def status(invocation: Invocation) -> Exit:
    """Show who is in the team, what waits to be sent, and what is wrong."""
    for agent in invocation.chosen_agents(invocation.memory.status()):
        if agent["team"] is not None:
            return invocation.show(agent["team"], _status_lines(agent["team"]))
    raise Disabled("you are in no team", hint="memoryctl team init makes one, memoryctl team join joins one")


def _status_lines(reply: TeamReply) -> Iterator[str]:
    yield harmless_line(f"{reply['name']}  you are {reply['person']}, {reply['remote']}")
    yield from (f"  {harmless_line(person['name'])}  {count(person['files'], 'file')}" for person in reply["people"])
    pending = reply["published"]["pending"]
    yield f"  {count(pending, 'file')} to be sent" if pending else "  all is sent"
    yield f"  brought in: {minute(reply['fetchedAt']) if reply['fetchedAt'] else 'not yet'}"
    if reply["offline"]:
        yield f"  offline: {harmless_line(reply['offline'])}"
    yield from (f"  ! {harmless_line(problem)}" for problem in reply["trouble"])
