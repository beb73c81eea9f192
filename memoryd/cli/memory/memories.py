"""memoryctl memories: list, search, show and change single memories."""

import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Unpack

import click

from memoryd.cli.invocation import (
    SHORT_ID,
    BulletCommand,
    Invocation,
    Note,
    Number,
    argument,
    command_from_call,
    exit_code_of,
    flag,
    key_option,
    limit_option,
    list_rows,
    scope_option,
    text_argument,
    undo_notes,
    with_invocation,
    words_argument,
)
from memoryd.cli.memory.search import assess, strict_option
from memoryd.cli.terminal import about, bold, count, dotted, harmless_line, in_columns, is_terminal, style, with_gutter
from memoryd.client import Client, MemoryBounds
from memoryd.domain.memories.tiers import FREQUENCY_SHARE, IMPORTANCE_SHARE, OFTEN, RECENCY_SHARE, Tier
from memoryd.replies.knowledge import NearCopiesReply
from memoryd.replies.memories import (
    DecayedMemoryReply,
    MemoryDecayReply,
    MemoryDeleteReply,
    MemoryDocumentReply,
    MemoryEditReply,
    MemoryReplaceReply,
    MemoryReply,
    MemoryStatsReply,
    MemoryWhyReply,
)
from memoryd.wire import POSITION_MAX, RESULTS_MAX, Exit

id_argument = argument("memory_id", metavar="ID", help="Its id, or the first eight characters of it.")
kind_option = click.option("--kind", metavar="KIND", help="Only memories of this network or kind, such as preference.")
SHOWN = 120
"""Characters shown of a memory in a list."""
SHOWN_PAIRS = 10


@click.group("memories")
def memories_command() -> None:
    """Show memories one by one; pin, edit, weigh and delete them."""


@memories_command.command("status")
@key_option
@command_from_call(Client.memory_stats)
def status(reply: MemoryStatsReply) -> Iterator[str]:
    """Count memories by tier, kind and scope."""
    yield f"{count(reply['total'], 'memory', 'memories')}, {reply['pinned']:,} pinned"
    parts = (("tier", reply["by_tier"]), ("kind", reply["by_kind"]), ("scope", reply["by_scope"]))
    for name, counts in parts:
        for key, number in sorted(counts.items(), key=lambda item: -item[1]):
            yield f"  {name:<6} {harmless_line(key):<24} {number:>6,}"
    yield from pair_lines(reply["near_copies"], reply["across_scopes"])


@memories_command.command("list")
@words_argument("query", metavar="[WORDS…]", help="Only memories that contain all of these words.")
@scope_option
@kind_option
@click.option("--tier", type=click.Choice(tuple(map(str, Tier))), help="Only memories of this tier.")
@click.option("--pinned/--not-pinned", default=None, help="Only pinned memories, or only others.")
@click.option("--tag", metavar="TAG", help="Only memories with this tag.")
@limit_option
@click.option("--offset", type=click.IntRange(0, POSITION_MAX), metavar="N", help="Skip this many first.")
@key_option
@with_invocation
def listing(invocation: Invocation, **filters: Unpack[MemoryBounds]) -> Exit:
    """List memories, the newest first: id, tier, kind, scope and text."""
    filters["query"] = filters["query"] or None
    reply = invocation.memory.memories(**filters)
    rows, skipped = reply["memories"], filters["offset"] or 0
    more = f"--offset {skipped + len(rows)}, or -k"
    lines = list_rows(rows, _memory_line, reply["total"], "such memory", before=skipped, option=more)
    return invocation.show(reply, lines, code=exit_code_of(rows))


@memories_command.command("search")
@words_argument("query", required=True, metavar="QUERY…", help="The question.")
@scope_option
@kind_option
@click.option("-k", "--k", "--limit", "top_k", type=click.IntRange(1, RESULTS_MAX), help="How many at most.")
@strict_option
@key_option
@with_invocation
def search(invocation: Invocation, /, strict: bool, **bounds: Any) -> Exit:
    """Find memories that answer QUERY, best first; passages of notes are not searched."""
    reply = invocation.memory.search_memories(**bounds)
    code, notes = assess(reply, "memory", has_results=bool(reply["memories"]), is_strict=strict)
    return invocation.show(reply, map(_memory_line, reply["memories"]), notes, code=code)


@memories_command.command("show")
@id_argument
@key_option
@command_from_call(Client.get_memory)
def show(reply: MemoryReply) -> Iterator[str]:
    """Show a memory: its text, author, lines, and how often it was used."""
    memory = reply["memory"]
    yield f"{style(memory['id'], bold=True)}  {harmless_line(memory['citation'])}"
    for line in memory["text"].split("\n"):
        yield with_gutter(line, is_marked=False)
    summary = {
        "kind": f"{memory['kind']} ({memory['network']})",
        "scope": harmless_line(memory["scope"]),
        "said by": memory["author"],
        "about": ", ".join(map(harmless_line, memory["entities"])),
        "tags": ", ".join(map(harmless_line, memory["tags"])),
        "tier": memory["tier"] + (", pinned" if memory["pinned"] else ""),
        "importance": f"{memory['importance']:g}",
        "relevance": f"{memory['relevance']:.2f}",
        "used": _use(memory),
        "written": memory["created_day"],
        "flags": ", ".join(memory["flags"]),
        "newer": ", ".join(key[:SHORT_ID] for key in memory["superseded_by"]),
        "lines": ", ".join(map(harmless_line, memory["sources"])),
    }
    yield from (f"  {name:<10}  {value}" for name, value in summary.items() if value)


@memories_command.command("pin")
@id_argument
@key_option
@command_from_call(Client.pin_memory)
def pin(reply: MemoryEditReply) -> Iterator[str]:
    """Pin a memory: it becomes core, never decays, and is part of the beginning of every session."""
    return _edit_lines(reply, "pinned", "it was pinned already")


@memories_command.command("unpin")
@id_argument
@key_option
@command_from_call(Client.unpin_memory)
def unpin(reply: MemoryEditReply) -> Iterator[str]:
    """Unpin a memory; its tier is computed anew."""
    return _edit_lines(reply, "not pinned any more", "it was not pinned")


@memories_command.command("importance")
@id_argument
@argument("importance", type=Number(0, 1), metavar="0..1", help="How important it is.")
@key_option
@command_from_call(Client.weigh_memory)
def importance(reply: MemoryEditReply) -> Iterator[str]:
    """Set the importance of a memory: important ones decay more slowly; from 0.95 (configurable) they may be core."""
    value = f"{reply['memory']['importance']:g}"
    return _edit_lines(reply, f"importance {value}", f"its importance was {value} already")


@memories_command.command("edit", cls=BulletCommand)
@id_argument
@text_argument(
    "text",
    required=False,
    help="The new text, plain or a bullet; - reads standard input. Without it an editor opens.",
)
@key_option
@with_invocation
def edit(invocation: Invocation, memory_id: str, text: str | None) -> Exit:
    """Edit the line of a memory in place; `memoryctl replace` keeps the older line beside a new one."""
    if text is None:
        text = _edit_text(invocation.memory.get_memory(memory_id)["memory"]["text"])
    reply = invocation.memory.replace_memory(memory_id, text, in_place=True)
    return invocation.show(reply, _edit_lines(reply, "edited", "unchanged", reply["run"]), reply["notes"])


def _edit_text(text: str) -> str:
    """Let the user edit a text in an editor and return it; raise Abort if it is empty or was not saved."""
    if not is_terminal(sys.stdin):
        raise click.UsageError("no terminal to edit in: give the text, or - for standard input")
    edited = click.edit(text + "\n", extension=".md", require_save=True)
    if edited is None or not edited.strip():
        raise click.Abort
    return edited.strip("\n")


@memories_command.command("delete")
@id_argument
@flag("--dry-run", help="Only show which lines would be removed.")
@key_option
@command_from_call(Client.delete_memory)
def delete(reply: MemoryDeleteReply) -> Iterator[str]:
    """Delete all lines that state a memory. It can be undone; `memoryctl forget` is permanent."""
    summary = "taken out" if reply["deleted"] else "would be taken out"
    yield from (f"{bold(line)}  {summary}" for line in reply["lines"])
    yield from map(Note, reply["notes"])
    yield from undo_notes(reply["changes"], reply["run"])
    if not reply["deleted"]:
        yield Note("nothing was written")
    elif not reply["searchable"]:
        yield Note("it is taken out, but the index is not up to date yet: memoryctl status says why")


@memories_command.command("why")
@id_argument
@key_option
@command_from_call(Client.why_memory)
def why(reply: MemoryWhyReply) -> Iterator[str]:
    """Explain the tier of a memory, and every term of its relevance."""
    terms = reply["terms"]
    yield _memory_line(reply["memory"])
    yield f"  used: {_use(reply['memory'])}"
    days = terms["leaves_core_in_days"]
    yield f"  {terms['tier']}: {terms['reason']}" + (
        "" if days is None else f"; it leaves the core in {count(math.ceil(days), 'day')} if nothing uses it"
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


@memories_command.command("decay")
@click.option(
    "--in", "within", metavar="TIME", default="90d", show_default=True, help="Time from now: 90d, 12w, 6m, 1y."
)
@limit_option
@key_option
@command_from_call(Client.decay_memories)
def decay(reply: MemoryDecayReply) -> Iterator[str]:
    """Show the relevance and tiers of memories after some time without use. Nothing is changed or deleted."""
    yield from list_rows(reply["memories"], _decay_line, reply["changing"], "memory that loses relevance")
    summary = count(reply["total"], "memory", "memories")
    yield f"in {reply['days']:g} days, without further use: {reply['moving']:,} of {summary} in another tier"


def _decay_line(decayed: DecayedMemoryReply) -> str:
    now, then = decayed["memory"], decayed["terms"]
    relevance = f"{now['relevance']:.2f} -> {then['relevance']:.2f}"
    tier = f"  {now['tier']} -> {then['tier']}: {then['reason']}" if now["tier"] != then["tier"] else ""
    return f"{relevance}{tier}  {_memory_line(now)}"


def _edit_lines(
    reply: MemoryEditReply | MemoryReplaceReply, done: str, already: str, run: str | None = None
) -> Iterator[str]:
    """Yield a memory with `done` if it changed, else with `already`, and the commands that undo the change."""
    yield f"{_memory_line(reply['memory'])}  {done if reply['changed'] else already}"
    yield from undo_notes(reply["changes"], run)


def _memory_line(memory: MemoryDocumentReply) -> str:
    """Return a memory as one line."""
    pinned = "pinned" if memory["pinned"] else ""
    superseded = "superseded" if memory["superseded_by"] else ""
    summary = dotted(
        memory["tier"], memory["kind"], harmless_line(memory["scope"]), pinned, superseded, *memory["flags"]
    )
    sentence = about(memory["entities"], harmless_line(" ".join(memory["text"].split())))
    shown = sentence if len(sentence) <= SHOWN else sentence[: SHOWN - 1] + "…"
    score = "" if memory["score"] is None else style(f"{memory['score']:.2f}", colour="green")
    return in_columns(style(memory["id"][:SHORT_ID], bold=True), score, style(summary, dim=True), shown)


def _use(memory: MemoryDocumentReply) -> str:
    if not memory["access_count"]:
        return "never"
    return f"{count(memory['access_count'], 'time')}, last on {memory['accessed_day']}"


def pair_lines(copies: Sequence[NearCopiesReply], across_scopes: Sequence[NearCopiesReply]) -> Iterator[str]:
    """Yield how many pairs of memories say the same, and the ids of the first pairs."""
    for pairs, what in ((copies, "say nearly the same"), (across_scopes, "say the same in several scopes")):
        if pairs:
            yield f"{count(len(pairs), 'pair')} of memories {what}"
        yield from (f"  {pair['newer'][:SHORT_ID]}  {pair['older'][:SHORT_ID]}" for pair in pairs[:SHOWN_PAIRS])
        if len(pairs) > SHOWN_PAIRS:
            yield f"  … and {len(pairs) - SHOWN_PAIRS} more"
