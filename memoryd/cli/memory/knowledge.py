"""memoryctl opinions and entities: what is thought, how firmly and why; what memories are about, under which names."""

from collections.abc import Iterator, Sequence

import click

from memoryd.cli.invocation import (
    SHORT_ID,
    Invocation,
    Note,
    argument,
    asks,
    flag,
    key_option,
    limit_option,
    listed,
    undo_notes,
    verb,
    words_argument,
)
from memoryd.cli.terminal import about, bold, count, harmless, harmless_line
from memoryd.client import Client
from memoryd.replies.knowledge import (
    EntitiesReply,
    EntityChangeReply,
    EntityReply,
    EntityShowReply,
    OpinionReplayReply,
    OpinionReply,
    OpinionsReply,
    OpinionStepReply,
    OpinionWhyReply,
)
from memoryd.wire import Exit

_RULES = {"supports": "its line says so", "contradicts": "its line says so", "restated": "says the same"}


@click.group("opinions")
def opinions_command() -> None:
    """Show opinions with their confidence, and why they are held."""


@opinions_command.command("list")
@click.option("--entity", metavar="NAME", help="Only opinions about this entity, or an alias of it.")
@limit_option
@key_option
@asks(Client.opinions, found_at="opinions")
def list_opinions(reply: OpinionsReply) -> Iterator[str]:
    """List opinions, the firmest first: confidence, what is thought, evidence for and against, id."""
    return listed(reply["opinions"], opinion_line, reply["total"], "opinion")


@opinions_command.command("why")
@argument("opinion", metavar="ID", help="The opinion, by its id or the first signs of it.")
@key_option
@asks(Client.why_opinion)
def why(reply: OpinionWhyReply) -> Iterator[str]:
    """Say why an opinion is held: each step with its evidence, and the confidence before and after it."""
    # those that count no more come last
    yield f"{_about(reply)}  {reply['id']}"
    yield f"  {reply['base']:.2f}  by its own lines  {harmless_line(reply['source'])}"
    yield from _step_lines(reply["steps"])
    yield f"  {reply['confidence']:.2f}  now"
    if reply["setAside"]:
        yield "  set aside, since its lines give another confidence:"
        yield from _step_lines(reply["setAside"])


@opinions_command.command("replay")
@key_option
@verb
def replay(invocation: Invocation) -> Exit:
    """Compute every confidence anew from lines and ledger, and compare them, bit for bit; exit 1 if any differs."""
    reply = invocation.memory.replay_opinions()
    return invocation.show(reply, _replay_lines(reply), code=Exit.DONE if reply["equal"] else Exit.ERROR)


def opinion_line(one: OpinionReply) -> str:
    """Return an opinion on one line."""
    evidence = f"+{one['supporting']} -{one['opposing']}"
    parts = [f"{one['confidence']:.2f}", _about(one), evidence, one["id"][:SHORT_ID], harmless_line(one["source"])]
    return "  ".join(parts)


def _about(one: OpinionReply) -> str:
    return about(one["entities"], bold(one["statement"]))


def _replay_lines(reply: OpinionReplayReply) -> Iterator[str]:
    for one in reply["differing"]:
        recorded = f"{one['before']!r} -> {one['after']!r}"
        computed = f"{one['computedBefore']!r} -> {one['computedAfter']!r}"
        yield f"{one['id']}  {harmless_line(one['statement'])}"
        yield f"  {one['evidence'][:SHORT_ID]}  recorded {recorded}, computed {computed}"
    parts = f"{count(reply['opinions'], 'opinion')}, {count(reply['steps'], 'step')}"
    yield f"{parts}: {'all equal' if reply['equal'] else str(len(reply['differing'])) + ' differ'}"


def _step_lines(steps: Sequence[OpinionStepReply]) -> Iterator[str]:
    for step in steps:
        rule = _RULES.get(step["labelledBy"], harmless_line(step["labelledBy"]))
        cited = ", ".join(map(harmless_line, step["citations"])) or "its line is gone"
        moved = f"{step['before']:.2f} -> {step['after']:.2f}"
        yield f"  {moved}  {step['label']} ({rule})  {step['day']}  {step['evidence'][:SHORT_ID]}  {cited}"
        if step["content"]:
            yield f"    {harmless_line(step['content'])}"


dry_option = flag("--dry-run", help="Only show what would be written.")


@click.group("entities")
def entities_command() -> None:
    """Show people, places and things that memories are about; merge their names and split them."""


@entities_command.command("list")
@limit_option
@key_option
@asks(Client.entities, found_at="entities")
def list_entities(reply: EntitiesReply) -> Iterator[str]:
    """List entities, those with most memories first: name, aliases, how much is known, since when and until when."""
    return listed(reply["entities"], _line, reply["total"], "entity")


@entities_command.command("show")
@words_argument("name", required=True, metavar="NAME…", help="Its name, or an alias.")
@limit_option
@key_option
@asks(Client.entity)
def show_entity(reply: EntityShowReply) -> Iterator[str]:
    """Show what is known of an entity: memories, the newest first, opinions, page and aliases."""
    yield _line(reply)
    if reply["page"]:
        yield f"  page: {harmless_line(reply['page'])}"
    if reply["opinions"]:
        yield "  opinions:"
        yield from (f"    {opinion_line(one)}" for one in reply["opinions"])
    if reply["memories"]:
        yield "  memories:"
    for one in reply["memories"]:
        flags = f"  ({', '.join(one['flags'])})" if one["flags"] else ""
        place = f"{one['id'][:SHORT_ID]}  {harmless_line(one['source'])}{flags}"
        yield f"    {one['day']}  {one['kind']}: {harmless_line(one['content'])}  {place}"


@entities_command.command("merge")
@argument("words", nargs=-1, required=True, metavar="NAME INTO ENTITY", help="As in: merge Pete into Peter.")
@dry_option
@verb
def merge(invocation: Invocation, words: tuple[str, ...], dry_run: bool) -> Exit:
    """Make a name an alias of an entity, in the front matter of its page. No log is rewritten; undo takes it back."""
    names = [word for number, word in enumerate(words) if (number, len(words), word.lower()) != (1, 3, "into")]
    if len(names) != 2:
        raise click.UsageError('which name into which: memoryctl entities merge Pete into Peter; quote "Two Words"')
    reply = invocation.memory.merge_entity(names[0], names[1], dry_run=dry_run)
    done = f"{reply['alias']} is an alias of {reply['entity']}"
    return invocation.show(reply, _changed(reply, done, nothing=f"{done} already"))


@entities_command.command("split")
@words_argument("alias", required=True, metavar="ALIAS…", help="The alias to take out.")
@dry_option
@asks(Client.split_entity)
def split(reply: EntityChangeReply) -> Iterator[str]:
    """Take an alias out of the page of its entity, so that it is an entity of its own; undo takes it back."""
    done = f"{reply['alias']} is no alias of {reply['entity']} any more"
    return _changed(reply, done, nothing=done)


def _changed(reply: EntityChangeReply, done: str, *, nothing: str) -> Iterator[str]:
    if reply["diff"] and not reply["written"]:
        yield harmless(reply["diff"]).removesuffix("\n")
        return
    yield harmless_line(done if reply["diff"] else nothing)
    yield from undo_notes([reply["change"]])
    if reply["change"] is None and reply["note"]:
        yield Note(reply["note"])


def _line(one: EntityReply) -> str:
    parts = [
        bold(one["name"]),
        count(one["memoryCount"], "memory", "memories"),
        *_days(one),
    ]
    if one["aliases"]:
        parts.append("also " + ", ".join(map(harmless_line, one["aliases"])))
    return "  ".join(parts)


def _days(one: EntityReply) -> list[str]:
    first, last = one["firstSeen"], one["lastSeen"]
    return [] if first is None or last is None else [first if first == last else f"{first} to {last}"]
