"""memoryctl entities: what memories are about, under which names."""

from collections.abc import Iterator

import click

from memoryd.cli.invocation import SHORT_ID, Invocation, argument, key_option, limit_option, undo_notes, verb
from memoryd.cli.memory.opinions import opinion_line
from memoryd.cli.terminal import count, harmless, harmless_line, styled
from memoryd.replies.knowledge import EntityChangeReply, EntityReply, EntityShowReply
from memoryd.wire import Exit

dry_option = click.option("--dry-run", "is_dry", is_flag=True, help="Only show what would be written.")


@click.group("entities")
def entities_command() -> None:
    """Show people, places and things that memories are about; merge their names and split them."""


@entities_command.command("list")
@limit_option
@key_option
@verb
def listing(invocation: Invocation, limit: int | None) -> Exit:
    """List entities, those with most memories first: name, aliases, how much is known, since when and until when."""
    reply = invocation.memory.entities(limit=limit)
    return invocation.show_list(reply, map(_line, reply["entities"]), reply["total"], "entity")


@entities_command.command("show")
@argument("words", nargs=-1, required=True, metavar="NAME…", help="Its name, or an alias.")
@limit_option
@key_option
@verb
def show(invocation: Invocation, words: tuple[str, ...], limit: int | None) -> Exit:
    """Show what is known of an entity: memories, the newest first, opinions, page and aliases."""
    reply = invocation.memory.entity(" ".join(words), limit=limit)
    return invocation.show(reply, _entity_lines(reply))


@entities_command.command("merge")
@argument("words", nargs=-1, required=True, metavar="NAME INTO ENTITY", help="As in: merge Pete into Peter.")
@dry_option
@verb
def merge(invocation: Invocation, words: tuple[str, ...], is_dry: bool) -> Exit:
    """Make a name an alias of an entity, in the front matter of its page. No log is rewritten; undo takes it back."""
    names = [word for number, word in enumerate(words) if (number, len(words), word.lower()) != (1, 3, "into")]
    if len(names) != 2:
        raise click.UsageError('which name into which: memoryctl entities merge Pete into Peter; quote "Two Words"')
    reply = invocation.memory.merge_entity(names[0], names[1], dry_run=is_dry)
    done = f"{reply['alias']} is an alias of {reply['entity']}"
    return _told(invocation, reply, done, nothing=f"{done} already", is_dry=is_dry)


@entities_command.command("split")
@argument("words", nargs=-1, required=True, metavar="ALIAS…", help="The alias to take out.")
@dry_option
@verb
def split(invocation: Invocation, words: tuple[str, ...], is_dry: bool) -> Exit:
    """Take an alias out of the page of its entity, so that it is an entity of its own; undo takes it back."""
    reply = invocation.memory.split_entity(" ".join(words), dry_run=is_dry)
    done = f"{reply['alias']} is no alias of {reply['entity']} any more"
    return _told(invocation, reply, done, nothing=done, is_dry=is_dry)


def _told(invocation: Invocation, reply: EntityChangeReply, done: str, *, nothing: str, is_dry: bool) -> Exit:
    if is_dry and reply["diff"]:
        return invocation.show(reply, [harmless(reply["diff"]).removesuffix("\n")])
    notes = undo_notes([reply["change"]]) if reply["change"] is not None else filter(None, [reply["note"]])
    return invocation.show(reply, [harmless_line(done if reply["diff"] else nothing)], notes)


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
