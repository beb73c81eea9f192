"""memoryctl team: begin a team or join one, share memories and take them back.

`init`, `join` and `leave` work without a daemon, and have one that runs read the configuration again.
"""

import asyncio
import shutil
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypedDict

import click

from memoryd import log
from memoryd.cli.invocation import SHORT_ID, Invocation, Note, argument, asks, flag, verb
from memoryd.cli.memory.changes import done_if_sure, sure_option
from memoryd.cli.terminal import bold, count, harmless, harmless_line, minute, styled
from memoryd.client import Client
from memoryd.config.loading.load import editable, load, loaded_of
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

TAKEN = "{} is in the team already, by another address than {}, by which git knows you"
TAKEN_HINT = "join by another name; or, if that is you, give git the same address here"
NO_CREDENTIALS = "the address holds a password or a token, which would be written into the configuration"
CREDENTIALS_HINT = "name it without, and have git keep that: git help credentials"
THERE_IS_ONE = "{} holds team {} already"
UNSENT = "{} wait to be sent: {}"
STAYS = (
    "what you shared stays with the team: memoryctl team revoke takes a memory back, before you leave",
    "your name stays in team.json of the repository",
)
_SECTION = "team"
_MEMBERS = "members"


class JoinedReply(TypedDict):
    """What `init`, `join` and `leave` answer."""

    name: str
    person: str
    remote: str
    people: list[str]
    config: str
    notes: list[str]


git_option = click.option(
    "--git", "remote", metavar="PATH|URL", help="The repository: a bare one in a folder, or an address."
)
person_option = click.option(
    "--person", metavar="NAME", help="What you are called in citations; on a server that is your login."
)
server_argument = argument(
    "server", required=False, metavar="[SERVER]", help="In the stead of a repository: postgresql://LOGIN@HOST/DATABASE."
)


class TeamGroup(click.Group):
    """Has the commands of a server, which load its driver, when one is asked for."""

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
    # what goes wrong is in the answer
    log.configure("WARNING")


@team_command.command("init")
@server_argument
@git_option
@click.option("--name", required=True, metavar="NAME", help="What the team is called.")
@person_option
@click.option(
    "--member",
    "members",
    multiple=True,
    metavar="LOGIN",
    help="Who is in it, on a server, the owner first; repeatable.",
)
@verb
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
@click.option("--name", metavar="NAME", help="What the team is called, on a server.")
@person_option
@verb
def join(invocation: Invocation, server: str | None, remote: str | None, name: str | None, person: str | None) -> Exit:
    """Join a team that somebody began."""
    if server is not None:
        _check_server_alone(server, remote, person)
        if name is None:
            raise click.UsageError("--name says which team of the server")
        from memoryd.cli.local.team_server import check_server

        who = check_server(server, name)
        _empty(_planned(invocation, server, name, who)[2])
        return _write_joined(invocation, server, name, who, [])
    remote, person = _git_place(remote, person)
    section = _planned(invocation, remote, "team-to-join", person)[2]
    return _enter(invocation, remote, person, lambda carrier: _joined(carrier, section))


def _enter(
    invocation: Invocation, remote: str, person: str, enter: Callable[[GitCarrier], Coroutine[Any, Any, TeamPeople]]
) -> Exit:
    """Enter a team in a folder of its own name, then write the configuration, and have a running daemon take it."""
    draft = team_dir(".new")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        people = asyncio.run(enter(_carrier(remote, person, draft)))
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    section = _planned(invocation, remote, people.name, person)[2]
    _empty(section)
    # so that a daemon has all that there is now, also where the network goes in between
    asyncio.run(_carrier(remote, person, section.folder).exchange())
    return _write_joined(invocation, remote, people.name, person, sorted(people.people))


def _empty(section: TeamSection) -> None:
    """Remove what is left of a team of this name, unless one is in it: another one may have had it."""
    if not load().config.team.is_joined:
        shutil.rmtree(section.folder, ignore_errors=True)


def _git_place(remote: str | None, person: str | None) -> tuple[str, str]:
    if remote is None or person is None:
        raise click.UsageError("name a repository by --git and yourself by --person, or a server")
    if without_credentials(remote) != remote:
        raise InvalidRequest(NO_CREDENTIALS, hint=CREDENTIALS_HINT)
    return address_of(remote), folded_id(person)


def _check_server_alone(server: str, remote: str | None, person: str | None) -> None:
    if not server.startswith(SERVER):
        raise click.UsageError(f"{server} is no server: it begins with postgresql://; a repository is named by --git")
    if remote is not None or person is not None:
        raise click.UsageError("on a server you are called as your login, and nothing is named by --git or --person")


def _write_joined(invocation: Invocation, remote: str, name: str, person: str, names: list[str]) -> Exit:
    # here: it opens the room of files
    from memoryd.cli.written_file import write_config

    path, text, section = _planned(invocation, remote, name, person)
    kept = write_config(invocation, path, text)
    notes = [f"the file as it was before: {kept}"] if kept else []
    reply = JoinedReply(
        name=name, person=section.person or person, remote=remote, people=names, config=str(path), notes=notes
    )
    line = f"{styled(name, bold=True)}  you are {reply['person']}{', of ' if names else ''}{', '.join(names)}"
    return invocation.show(reply, [harmless_line(line)], [*notes, "memoryctl team promote ID shares a memory"])


async def _begun(carrier: GitCarrier, section: TeamSection) -> TeamPeople:
    await _reach(carrier)
    if (before := await carrier.people_or_none()) is not None:
        raise InvalidRequest(THERE_IS_ONE.format(section.remote, before.name), hint="memoryctl team join joins it")
    people = TeamPeople(section.name or "", {}).with_person(section.person or "", await carrier.repository.author())
    return await _written(carrier, people, f"begin team {people.name}")


async def _joined(carrier: GitCarrier, section: TeamSection) -> TeamPeople:
    mail = await carrier.repository.author()
    await _reach(carrier)
    people, person = await carrier.people(), section.person or ""
    if not people.people.get(person):
        # another one may be faster by that name
        people = await _written(carrier, people.with_person(person, mail), f"{person} joins")
    if not people.wrote(person, mail):
        raise InvalidRequest(TAKEN.format(person, mail), hint=TAKEN_HINT)
    return people


async def _reach(carrier: GitCarrier) -> None:
    """Exchange; raises NotNow where the repository cannot be reached."""
    await carrier.open()
    await carrier.exchange()
    if carrier.health().offline:
        raise NotNow(carrier.health().offline, hint="see whether `git ls-remote` reaches it")


async def _written(carrier: GitCarrier, people: TeamPeople, why: str) -> TeamPeople:
    await carrier.found(people, why)
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
    """Return the configuration with a team; raises InvalidRequest where there is another one, ConfigError."""
    now = load().config.team
    # a repository tells its name itself, a server carries several
    is_other = now.remote is not None and (address_of(now.remote), now.person) != (remote, person)
    if is_other or (now.is_on_server and now.name != folded_id(name)):
        raise InvalidRequest(f"you are in team {now.name} already", hint="memoryctl team leave")
    path, text = editable(f"the section `{_SECTION}`")
    for key, value in (("person", person), ("name", name), ("remote", remote)):
        text = with_value(text, (_SECTION, key), value)
    if invocation.agent is not None:
        text = with_value(text, (_SECTION, "agent"), invocation.agent)
    return path, text, loaded_of(text, path).config.team


@team_command.command("leave")
@flag("--yes", "is_sure", help="Leave though something of yours waits to be sent.")
@verb
def leave(invocation: Invocation, is_sure: bool) -> Exit:
    """Leave the team: its memory is removed from this machine; what you shared stays where it is."""
    section = load().config.team
    if not section.is_joined:
        raise Disabled("you are in no team")
    waits = asyncio.run(_unsent(carrier_of(section)))
    if waits and not is_sure:
        raise NotNow(waits, hint="see memoryctl team status; --yes leaves all the same")
    # here, as above
    from memoryd.cli.written_file import write_config

    path, text = editable(f"the section `{_SECTION}`")
    if value_at(parse(text, path), (_SECTION,)) is not None:
        kept = write_config(invocation, path, without_key(text, _SECTION))
        notes = [f"the file as it was before: {kept}"] if kept else []
    else:
        notes = ["the team is not named in the file: unset what names it, such as variables"]
    shutil.rmtree(section.folder, ignore_errors=True)
    notes += [
        STAYS[0],
        *([] if section.is_on_server else STAYS[1:]),
        *([f"your checkout stays: {section.checkout_folder}"] if section.checkout is not None else []),
    ]
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
    """Return what waits to be sent after one more try, and why; empty if nothing does."""
    await carrier.exchange()
    health = carrier.health()
    why = health.offline or health.refused or health.broken
    return UNSENT.format(count(health.pending, "file"), why) if health.pending else ""


@team_command.command("promote")
@argument(
    "target", metavar="ID|CITATION", help="The id of a memory or its beginning, or a citation such as memory/x.md#L12."
)
@flag("--dry-run", "is_dry", help="Only say what would be shared, and who would read it.")
@sure_option
@verb
def promote(invocation: Invocation, target: str, is_dry: bool, is_sure: bool) -> Exit:
    """Share a memory with the team, after showing the line and who will read it."""
    return done_if_sure(
        invocation,
        lambda: invocation.memory.promote_memory(target, dry_run=True),
        # what was shown: meanwhile another line may stand at that place
        lambda plan: invocation.memory.promote_memory(plan["id"]),
        _promoted_lines,
        what="share",
        is_dry=is_dry,
        is_sure=is_sure,
    )


def _promoted_lines(reply: TeamPromoteReply) -> Iterator[str]:
    """Yield a shared line, whose it is, and who reads it."""
    state = "shared" if reply["promoted"] else "would be shared"
    yield f"{bold(reply['citation'])}  {reply['id'][:SHORT_ID]}  {state}"
    yield f"  {harmless(reply['line'])}"
    readers = harmless_line(", ".join(reply["readers"]))
    yield f"  by {harmless_line(reply['author'])}, read by {readers}, and whoever else may read what carries it"
    yield from map(Note, reply["notes"])


@team_command.command("revoke")
@argument(
    "target", metavar="ID|CITATION", help="The id of a memory of yours, or a citation such as ana:memory/x.md#L12."
)
@flag("--dry-run", help="Only say what would be taken back.")
@asks(Client.revoke_memory)
def revoke(reply: TeamRevokeReply) -> Iterator[str]:
    """Take a memory of yours back from the team, and say what cannot be reached."""
    state = "taken back" if reply["changed"] else "would be taken back"
    yield from (f"{bold(one)}  {state}" for one in reply["revoked"])
    yield "  out of reach:"
    yield from (f"  - {harmless_line(one)}" for one in reply["stays"])


@team_command.command("sync")
@verb
def sync(invocation: Invocation) -> Exit:
    """Bring in what others shared, and send what waits."""
    reply = invocation.memory.sync_team()
    is_well = not (reply["offline"] or reply["published"]["pending"])
    return invocation.show(reply, _status_lines(reply), code=Exit.DONE if is_well else Exit.ERROR)


@team_command.command("status")
@verb
def status(invocation: Invocation) -> Exit:
    """Show who is in the team, what waits to be sent, and what is wrong."""
    found = [one["team"] for one in invocation.chosen_agents(invocation.memory.status()) if one["team"] is not None]
    if not found:
        raise Disabled("you are in no team", hint="memoryctl team init makes one, memoryctl team join joins one")
    return invocation.show(found[0], _status_lines(found[0]))


def _status_lines(reply: TeamReply) -> Iterator[str]:
    yield harmless_line(f"{reply['name']}  you are {reply['person']}, {reply['remote']}")
    yield from (f"  {harmless_line(one['name'])}  {count(one['files'], 'file')}" for one in reply["people"])
    pending = reply["published"]["pending"]
    waits = f"{count(pending, 'file')} to be sent" if pending else "all is sent"
    yield f"  {waits}"
    yield f"  brought in: {minute(reply['fetchedAt']) if reply['fetchedAt'] else 'not yet'}"
    if reply["offline"]:
        yield f"  offline: {harmless_line(reply['offline'])}"
    yield from (f"  ! {harmless_line(one)}" for one in reply["trouble"])
