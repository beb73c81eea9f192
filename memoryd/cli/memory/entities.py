"""memoryctl entities: what memories are about, under which names."""

from collections.abc import Iterator

import click

from memoryd.cli.invocation import HELP, SHORT_ID, Argument, Invocation, limit_option, rest_notes, shared, undo_notes
from memoryd.cli.memory.opinions import opinion_line
from memoryd.cli.memory.qa import key_option
from memoryd.cli.terminal import count, harmless, harmless_line, styled
from memoryd.replies.knowledge import EntityChangeReply, EntityReply, EntityShowReply
from memoryd.wire import Exit

dry_option = click.option("--dry-run", "is_dry", is_flag=True, help="Only show what would be written.")


@click.group("entities", context_settings=HELP)
def entities_command() -> None:
    """Show people, places and things that memories are about; merge their names and split them."""


@entities_command.command("list", context_settings=HELP)
@limit_option
@key_option
@shared
@click.pass_obj
def listing(invocation: Invocation, limit: int | None, key: str | None) -> Exit:
    """List entities, those with most memories first: name, aliases, how much is known, since when and until when."""
    with invocation.client() as client:
        reply = client.entities(limit=limit, session_key=key, agent=invocation.agent)
    rest = rest_notes(len(reply["entities"]), reply["total"], "entity")
    invocation.show(reply, map(_line, reply["entities"]), rest)
    return Exit.DONE if reply["entities"] else Exit.NOTHING_FOUND


@entities_command.command("show", context_settings=HELP)
@click.argument("words", nargs=-1, required=True, cls=Argument, metavar="NAME…", help="Its name, or an alias.")
@limit_option
@key_option
@shared
@click.pass_obj
def show(invocation: Invocation, words: tuple[str, ...], limit: int | None, key: str | None) -> Exit:
    """Show what is known of an entity: memories, the newest first, opinions, page and aliases."""
    with invocation.client() as client:
        reply = client.entity(" ".join(words), limit=limit, session_key=key, agent=invocation.agent)
    invocation.show(reply, _entity_lines(reply))
    return Exit.DONE


@entities_command.command("merge", context_settings=HELP)
@click.argument(
    "words", nargs=-1, required=True, cls=Argument, metavar="NAME INTO ENTITY", help="As in: merge Pete into Peter."
)
@dry_option
@shared
@click.pass_obj
def merge(invocation: Invocation, words: tuple[str, ...], is_dry: bool) -> Exit:
    """Make a name an alias of an entity, in the front matter of its page. No log is rewritten; undo takes it back."""
    names = [word for number, word in enumerate(words) if (number, len(words), word.lower()) != (1, 3, "into")]
    if len(names) != 2:
        raise click.UsageError('which name into which: memoryctl entities merge Pete into Peter; quote "Two Words"')
    with invocation.client() as client:
        reply = client.merge_entity(names[0], names[1], dry_run=is_dry, agent=invocation.agent)
    done = f"{reply['alias']} is an alias of {reply['entity']}"
    return _told(invocation, reply, done, nothing=f"{done} already", is_dry=is_dry)


@entities_command.command("split", context_settings=HELP)
@click.argument("words", nargs=-1, required=True, cls=Argument, metavar="ALIAS…", help="The alias to take out.")
@dry_option
@shared
@click.pass_obj
def split(invocation: Invocation, words: tuple[str, ...], is_dry: bool) -> Exit:
    """Take an alias out of the page of its entity, so that it is an entity of its own; undo takes it back."""
    with invocation.client() as client:
        reply = client.split_entity(" ".join(words), dry_run=is_dry, agent=invocation.agent)
    done = f"{reply['alias']} is no alias of {reply['entity']} any more"
    return _told(invocation, reply, done, nothing=done, is_dry=is_dry)


def _told(invocation: Invocation, reply: EntityChangeReply, done: str, *, nothing: str, is_dry: bool) -> Exit:
    if is_dry and reply["diff"]:
        invocation.show(reply, [harmless(reply["diff"]).removesuffix("\n")])
        return Exit.DONE
    notes = undo_notes([reply["change"]]) if reply["change"] is not None else filter(None, [reply["note"]])
    invocation.show(reply, [harmless_line(done if reply["diff"] else nothing)], notes)
    return Exit.DONE


def _line(one: EntityReply) -> str:
    told = [styled(harmless_line(one["name"]), bold=True), count(one["memoryCount"], "memory", "memories"), *_days(one)]
    if one["aliases"]:
        told.append("also " + ", ".join(map(harmless_line, one["aliases"])))
    return "  ".join(told)


def _days(one: EntityReply) -> list[str]:
    first, last = one["firstSeen"], one["lastSeen"]
    return [] if first is None or last is None else [first if first == last else f"{first} to {last}"]


def _entity_lines(reply: EntityShowReply) -> Iterator[str]:
    yield _line(reply)
    if reply["page"]:
        yield f"  page: {harmless_line(reply['page'])}"
    if reply["opinions"]:
        yield "  opinions:"
        yield from (f"    {opinion_line(one)}" for one in reply["opinions"])
    if reply["memories"]:
        yield "  memories:"
    for one in reply["memories"]:
        place = f"{one['id'][:SHORT_ID]}  {harmless_line(one['source'])}"
        yield f"    {one['day']}  {one['kind']}: {harmless_line(one['content'])}  {place}"
