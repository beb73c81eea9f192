"""memoryctl memories: memories one by one, by their ids."""

import math
import sys
from collections.abc import Iterator, Sequence

import click

from memoryd.cli.answer_health import AnswerWorth, lacking, strict_option, took_part
from memoryd.cli.invocation import (
    HELP,
    SHORT_ID,
    Argument,
    BulletCommand,
    BulletText,
    Invocation,
    Number,
    limit_option,
    rest_notes,
    shared,
    undo_notes,
)
from memoryd.cli.memory.qa import given_text, key_option
from memoryd.cli.terminal import behind_gutter, count, harmless_line, is_terminal, styled
from memoryd.domain.memories.tiers import FREQUENCY_SHARE, IMPORTANCE_SHARE, OFTEN, RECENCY_SHARE
from memoryd.replies.knowledge import NearCopiesReply
from memoryd.replies.memories import (
    MemoryDecayReply,
    MemoryDeleteReply,
    MemoryDocumentReply,
    MemoryEditReply,
    MemoryStatsReply,
    MemoryWhyReply,
    RelevanceTermsReply,
)
from memoryd.wire import POSITION_MAX, RESULTS_MAX, Exit

TIERS = ("core", "working", "peripheral")
id_argument = click.argument("memory", cls=Argument, metavar="ID", help="Its id, or the first eight signs of it.")
scope_option = click.option(
    "--scope", metavar="SCOPE", help="Only memories of this scope: workspace, agent:ID, agent:ID:CHANNEL or global."
)
kind_option = click.option("--kind", metavar="KIND", help="Only memories of this network or kind, such as preference.")
SHOWN = 120
"""Characters of a memory on one line."""
SHOWN_PAIRS = 10


@click.group("memories", context_settings=HELP)
def memories_command() -> None:
    """Show memories one by one; pin and edit them, say how important they are, and take them out."""


@memories_command.command("status", context_settings=HELP)
@key_option
@shared
@click.pass_obj
def status(invocation: Invocation, key: str | None) -> Exit:
    """Count memories by tier, kind and scope."""
    with invocation.client() as client:
        reply = client.memory_stats(session_key=key, agent=invocation.agent)
    invocation.show(reply, status_lines(reply))
    return Exit.DONE


@memories_command.command("list", context_settings=HELP)
@click.argument("words", nargs=-1, cls=Argument, metavar="[WORDS…]", help="Words that all stand in them.")
@scope_option
@kind_option
@click.option("--tier", type=click.Choice(TIERS), help="Only memories of this tier.")
@click.option("--pinned/--not-pinned", default=None, help="Only what is pinned, or only what is not.")
@click.option("--tag", metavar="TAG", help="Only memories with this tag.")
@limit_option
@click.option("--offset", type=click.IntRange(0, POSITION_MAX), metavar="N", help="Leave out so many before.")
@key_option
@shared
@click.pass_obj
def listing(
    invocation: Invocation,
    words: tuple[str, ...],
    scope: str | None,
    kind: str | None,
    tier: str | None,
    pinned: bool | None,
    tag: str | None,
    limit: int | None,
    offset: int | None,
    key: str | None,
) -> Exit:
    """List memories, the newest first: id, tier, kind, scope, and what they say."""
    with invocation.client() as client:
        reply = client.memories(
            query=" ".join(words) or None,
            scope=scope,
            kind=kind,
            tier=tier,
            pinned=pinned,
            tag=tag,
            limit=limit,
            offset=offset,
            session_key=key,
            agent=invocation.agent,
        )
    so_far = len(reply["memories"]) + (offset or 0)
    rest = rest_notes(so_far, reply["total"], "such memory", option=f"--offset {so_far}, or -k")
    invocation.show(reply, map(memory_line, reply["memories"]), rest)
    return Exit.DONE if reply["memories"] else Exit.NOTHING_FOUND


@memories_command.command("search", context_settings=HELP)
@click.argument("words", nargs=-1, required=True, cls=Argument, metavar="QUERY…", help="The question.")
@scope_option
@kind_option
@click.option("-k", "--k", "--limit", "top_k", type=click.IntRange(1, RESULTS_MAX), help="How many at most.")
@strict_option
@key_option
@shared
@click.pass_obj
def search(
    invocation: Invocation,
    words: tuple[str, ...],
    scope: str | None,
    kind: str | None,
    top_k: int | None,
    strict: bool,
    key: str | None,
) -> Exit:
    """Find memories that answer QUERY, best first, and no passages of notes."""
    with invocation.client() as client:
        reply = client.search_memories(
            " ".join(words), scope=scope, kind=kind, top_k=top_k, session_key=key, agent=invocation.agent
        )
    found, health = reply["memories"], reply["health"]
    worth = AnswerWorth(reply["verdict"], reply["reason"], health, bool(found), took_part(health))
    invocation.show(reply, map(memory_line, found), [*worth.notes("memory"), *lacking(health)])
    return worth.exit_code(is_strict=strict)


@memories_command.command("show", context_settings=HELP)
@id_argument
@key_option
@shared
@click.pass_obj
def show(invocation: Invocation, memory: str, key: str | None) -> Exit:
    """Show all that is known of a memory: what it says, where, how often it was used."""
    with invocation.client() as client:
        reply = client.get_memory(memory, session_key=key, agent=invocation.agent)
    invocation.show(reply, document_lines(reply["memory"]))
    return Exit.DONE


@memories_command.command("pin", context_settings=HELP)
@id_argument
@key_option
@shared
@click.pass_obj
def pin(invocation: Invocation, memory: str, key: str | None) -> Exit:
    """Pin a memory: it is core, never decays, and stands at the beginning of every session."""
    with invocation.client() as client:
        reply = client.pin_memory(memory, session_key=key, agent=invocation.agent)
    return _edited(invocation, reply, done="pinned", already="it was pinned already")


@memories_command.command("unpin", context_settings=HELP)
@id_argument
@key_option
@shared
@click.pass_obj
def unpin(invocation: Invocation, memory: str, key: str | None) -> Exit:
    """Take the pin of a memory away; its tier is judged anew."""
    with invocation.client() as client:
        reply = client.unpin_memory(memory, session_key=key, agent=invocation.agent)
    return _edited(invocation, reply, done="not pinned any more", already="it was not pinned")


@memories_command.command("importance", context_settings=HELP)
@id_argument
@click.argument("value", cls=Argument, type=Number(0, 1), metavar="0..1", help="How important it is.")
@key_option
@shared
@click.pass_obj
def importance(invocation: Invocation, memory: str, value: float, key: str | None) -> Exit:
    """Say how important a memory is: what is important decays slower, and is core from 0.95 on."""
    with invocation.client() as client:
        reply = client.weigh_memory(memory, value, session_key=key, agent=invocation.agent)
    return _edited(invocation, reply, done=f"importance {value:g}", already=f"its importance was {value:g} already")


@memories_command.command("edit", cls=BulletCommand, context_settings=HELP)
@id_argument
@click.argument(
    "text",
    cls=Argument,
    type=BulletText(),
    required=False,
    help="What it is to say, plain text or a bullet; - reads standard input. Without it an editor opens.",
)
@key_option
@shared
@click.pass_obj
def edit(invocation: Invocation, memory: str, text: str | None, key: str | None) -> Exit:
    """Edit what a memory says, where it stands; `memoryctl replace` keeps the older line beside a new one."""
    with invocation.client() as client:
        if text is None:
            text = _edited_text(client.get_memory(memory, session_key=key, agent=invocation.agent)["memory"]["text"])
        reply = client.replace_memory(memory, given_text(text), in_place=True, session_key=key, agent=invocation.agent)
    told = f"{memory_line(reply['memory'])}  {'edited' if reply['changed'] else 'stays as it is'}"
    invocation.show(reply, [told], [*undo_notes(reply["changes"], reply["run"]), *reply["notes"]])
    return Exit.DONE


def _edited_text(text: str) -> str:
    """Return what a person makes of a text in their editor; raises Abort where they leave without saving."""
    if not is_terminal(sys.stdin):
        raise click.UsageError("nobody can edit here: give the text, or - for standard input")
    edited = click.edit(text + "\n", extension=".md", require_save=True)
    if edited is None or not edited.strip():
        raise click.Abort
    return edited.strip("\n")


@memories_command.command("delete", context_settings=HELP)
@id_argument
@click.option("--dry-run", is_flag=True, help="Only show which lines would go.")
@key_option
@shared
@click.pass_obj
def delete(invocation: Invocation, memory: str, dry_run: bool, key: str | None) -> Exit:
    """Take out all lines that state a memory. It can be undone; `memoryctl forget` is for good."""
    with invocation.client() as client:
        reply = client.delete_memory(memory, dry_run=dry_run, session_key=key, agent=invocation.agent)
    told = "would go" if dry_run else "taken out"
    lines = (f"{styled(harmless_line(one), bold=True)}  {told}" for one in reply["lines"])
    invocation.show(reply, lines, _deleted_notes(reply))
    return Exit.DONE


@memories_command.command("why", context_settings=HELP)
@id_argument
@key_option
@shared
@click.pass_obj
def why(invocation: Invocation, memory: str, key: str | None) -> Exit:
    """Say why a memory stands where it does: its tier, and every term of its relevance."""
    with invocation.client() as client:
        reply = client.why_memory(memory, session_key=key, agent=invocation.agent)
    invocation.show(reply, why_lines(reply))
    return Exit.DONE


@memories_command.command("decay", context_settings=HELP)
@click.option("--in", "within", metavar="TIME", default="90d", show_default=True, help="In how long: 90d, 12w, 6m, 1y.")
@limit_option
@key_option
@shared
@click.pass_obj
def decay(invocation: Invocation, within: str, limit: int | None, key: str | None) -> Exit:
    """Say how memories will stand in some time if nobody touches them. Nothing is changed, and nothing ever deleted."""
    with invocation.client() as client:
        reply = client.decay_memories(within, limit=limit, session_key=key, agent=invocation.agent)
    invocation.show(reply, decay_lines(reply))
    return Exit.DONE


def _edited(invocation: Invocation, reply: MemoryEditReply, *, done: str, already: str) -> Exit:
    line = f"{memory_line(reply['memory'])}  {done if reply['changed'] else already}"
    invocation.show(reply, [line], undo_notes(reply["changes"]))
    return Exit.DONE


def _deleted_notes(reply: MemoryDeleteReply) -> Iterator[str]:
    yield from undo_notes(reply["changes"], reply["run"])
    if not reply["deleted"]:
        yield "nothing was written"
    elif not reply["searchable"]:
        yield "it is taken out, and the index has not followed yet: memoryctl status says why"


def memory_line(one: MemoryDocumentReply) -> str:
    """Return a memory on one line."""
    told = " · ".join([one["tier"], one["kind"], harmless_line(one["scope"]), *(["pinned"] if one["pinned"] else [])])
    text = harmless_line(" ".join(one["text"].split()))
    names = " ".join(f"@{harmless_line(name)}" for name in one["entities"])
    said = f"{names}: {text}" if names else text
    shown = said if len(said) <= SHOWN else said[: SHOWN - 1] + "…"
    score = [styled(f"{one['score']:.2f}", colour="green")] if one["score"] is not None else []
    return "  ".join([styled(one["id"][:SHORT_ID], bold=True), *score, styled(told, dim=True), shown])


def document_lines(one: MemoryDocumentReply) -> Iterator[str]:
    """Yield all that is known of a memory."""
    yield f"{styled(one['id'], bold=True)}  {harmless_line(one['citation'])}"
    for line in one["text"].split("\n"):
        yield behind_gutter(line, is_marked=False)
    told = {
        "kind": f"{one['kind']} ({one['network']})",
        "scope": harmless_line(one["scope"]),
        "about": ", ".join(map(harmless_line, one["entities"])),
        "tags": ", ".join(map(harmless_line, one["tags"])),
        "tier": one["tier"] + (", pinned" if one["pinned"] else ""),
        "importance": f"{one['importance']:g}",
        "relevance": f"{one['relevance']:.2f}",
        "used": _use(one),
        "written": one["created_day"],
        "newer": ", ".join(key[:SHORT_ID] for key in one["superseded_by"]),
        "lines": ", ".join(map(harmless_line, one["sources"])),
    }
    yield from (f"  {name:<10}  {value}" for name, value in told.items() if value)


def _use(one: MemoryDocumentReply) -> str:
    if not one["access_count"]:
        return "never"
    return f"{count(one['access_count'], 'time')}, last on {one['accessed_day']}"


def status_lines(reply: MemoryStatsReply) -> Iterator[str]:
    """Yield how many memories there are."""
    yield f"{count(reply['total'], 'memory', 'memories')}, {reply['pinned']:,} pinned"
    parts = (("tier", reply["by_tier"]), ("kind", reply["by_kind"]), ("scope", reply["by_scope"]))
    for name, counted in parts:
        for key, number in sorted(counted.items(), key=lambda pair: -pair[1]):
            yield f"  {name:<6} {harmless_line(key):<24} {number:>6,}"
    yield from pair_lines(reply["near_copies"], "say nearly the same")
    yield from pair_lines(reply["across_scopes"], "say the same in several scopes")


def pair_lines(pairs: Sequence[NearCopiesReply], what: str) -> Iterator[str]:
    """Yield how many pairs of memories there are of which one may be needless, and the first of them by their ids."""
    if pairs:
        yield f"{count(len(pairs), 'pair')} of memories {what}"
    yield from (f"  {pair['newer'][:8]}  {pair['older'][:8]}" for pair in pairs[:SHOWN_PAIRS])
    if len(pairs) > SHOWN_PAIRS:
        yield f"  … and {len(pairs) - SHOWN_PAIRS} more"


def _term_lines(terms: RelevanceTermsReply) -> Iterator[str]:
    """Yield the terms of a relevance, as its formula has them."""
    leaves = terms["leaves_core_in_days"]
    yield f"  {terms['tier']}: {terms['reason']}" + (
        "" if leaves is None else f"; it leaves the core in {count(math.ceil(leaves), 'day')} if nothing uses it"
    )
    yield (
        f"  recency     {terms['recency']:.3f}  exp(-ln 2 / {terms['half_life_days']:.1f} days"
        f" * {terms['age_days']:.1f} days ^ {terms['beta']:g})"
    )
    yield f"  frequency   {terms['frequency']:.3f}  1 - exp(-{terms['access_count']} / {OFTEN})"
    yield f"  importance  {terms['importance']:.3f}"
    yield (
        f"  composite   {terms['composite']:.3f}  {RECENCY_SHARE:g} * recency + {FREQUENCY_SHARE:g} * frequency"
        f" + {IMPORTANCE_SHARE:g} * importance"
    )
    yield f"  relevance   {terms['relevance']:.3f}  at least {terms['floor']:g} in this tier"


def why_lines(reply: MemoryWhyReply) -> Iterator[str]:
    """Yield a memory, and every term of its relevance."""
    yield memory_line(reply["memory"])
    yield f"  used: {_use(reply['memory'])}"
    yield from _term_lines(reply["terms"])


def decay_lines(reply: MemoryDecayReply) -> Iterator[str]:
    """Yield how memories will stand."""
    for one in reply["memories"]:
        now, then = one["memory"], one["terms"]
        moved = f"{now['relevance']:.2f} -> {then['relevance']:.2f}"
        tier = f"  {now['tier']} -> {then['tier']}: {then['reason']}" if now["tier"] != then["tier"] else ""
        yield f"{moved}{tier}  {memory_line(now)}"
    told = count(reply["total"], "memory", "memories")
    yield f"in {reply['days']:g} days, if nobody touches them: {reply['moving']:,} of {told} in another tier"
