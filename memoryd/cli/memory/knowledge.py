"""memoryctl opinions, entities, reflect, proposals and disagreements: what memoryd derives from memories.

`reflect` updates entity pages and opinions; the user decides on proposals and disagreements.
"""

import contextlib
import sys
import threading
from collections.abc import Iterator, Sequence
from itertools import chain

import click

from memoryd.cli.invocation import (
    SHORT_ID,
    Invocation,
    Note,
    argument,
    command_from_call,
    exit_code_of,
    flag,
    key_option,
    limit_option,
    list_rows,
    shared,
    undo_notes,
    with_invocation,
    words_argument,
)
from memoryd.cli.terminal import about, bold, count, harmless, harmless_line, in_columns, is_terminal, note, style
from memoryd.client import Client
from memoryd.errors import MemorydError
from memoryd.replies.knowledge import (
    DecidedProposalReply,
    DisagreementsReply,
    EntitiesReply,
    EntityChangeReply,
    EntityReply,
    EntityShowReply,
    OpinionReplayReply,
    OpinionReply,
    OpinionsReply,
    OpinionStepReply,
    OpinionWhyReply,
    ProposalReply,
    ProposalsReply,
    ReflectReply,
    SettledReply,
)
from memoryd.wire import Event, Exit

_RULES = {"supports": "its line says so", "contradicts": "its line says so", "restated": "says the same"}


@click.group("opinions")
def opinions_command() -> None:
    """Show opinions, their confidence, and the evidence for them."""


@opinions_command.command("list")
@click.option("--entity", metavar="NAME", help="Only opinions about this entity, or an alias of it.")
@limit_option
@key_option
@command_from_call(Client.opinions, found_at="opinions")
def list_opinions(reply: OpinionsReply) -> Iterator[str]:
    """List opinions, the most confident first: confidence, statement, evidence for and against, id."""
    return list_rows(reply["opinions"], opinion_line, reply["total"], "opinion")


@opinions_command.command("why")
@argument("opinion", metavar="ID", help="The opinion, by its id or the beginning of it.")
@key_option
@command_from_call(Client.why_opinion)
def why(reply: OpinionWhyReply) -> Iterator[str]:
    """Explain an opinion: each step with its evidence, and the confidence before and after it."""
    # steps that no longer count come last
    yield f"{_about(reply)}  {reply['id']}"
    yield f"  {reply['base']:.2f}  by its own lines  {harmless_line(reply['source'])}"
    yield from _step_lines(reply["steps"])
    yield f"  {reply['confidence']:.2f}  now"
    if reply["setAside"]:
        yield "  set aside, since its lines give another confidence:"
        yield from _step_lines(reply["setAside"])


@opinions_command.command("replay")
@key_option
@with_invocation
def replay(invocation: Invocation) -> Exit:
    """Recompute every confidence from lines and ledger, and compare the exact values; exit 1 if any differs."""
    reply = invocation.memory.replay_opinions()
    return invocation.show(reply, _replay_lines(reply), code=Exit.DONE if reply["equal"] else Exit.ERROR)


def opinion_line(opinion: OpinionReply) -> str:
    """Return an opinion as one line."""
    return in_columns(
        f"{opinion['confidence']:.2f}",
        _about(opinion),
        f"+{opinion['supporting']} -{opinion['opposing']}",
        opinion["id"][:SHORT_ID],
        harmless_line(opinion["source"]),
    )


def _about(opinion: OpinionReply) -> str:
    return about(opinion["entities"], bold(opinion["statement"]))


def _replay_lines(reply: OpinionReplayReply) -> Iterator[str]:
    for step in reply["differing"]:
        recorded = f"{step['before']!r} -> {step['after']!r}"
        computed = f"{step['computedBefore']!r} -> {step['computedAfter']!r}"
        yield f"{step['id']}  {harmless_line(step['statement'])}"
        yield f"  {step['evidence'][:SHORT_ID]}  recorded {recorded}, computed {computed}"
    parts = f"{count(reply['opinions'], 'opinion')}, {count(reply['steps'], 'step')}"
    yield f"{parts}: {'all equal' if reply['equal'] else str(len(reply['differing'])) + ' differ'}"


def _step_lines(steps: Sequence[OpinionStepReply]) -> Iterator[str]:
    for step in steps:
        rule = _RULES.get(step["labelledBy"], harmless_line(step["labelledBy"]))
        cited = ", ".join(map(harmless_line, step["citations"])) or "its line is gone"
        change = f"{step['before']:.2f} -> {step['after']:.2f}"
        yield f"  {change}  {step['label']} ({rule})  {step['day']}  {step['evidence'][:SHORT_ID]}  {cited}"
        if step["content"]:
            yield f"    {harmless_line(step['content'])}"


dry_option = flag("--dry-run", help="Only show what would be written.")


@click.group("entities")
def entities_command() -> None:
    """Show people, places and things that memories are about; merge and split their names."""


@entities_command.command("list")
@limit_option
@key_option
@command_from_call(Client.entities, found_at="entities")
def list_entities(reply: EntitiesReply) -> Iterator[str]:
    """List entities, those with most memories first: name, number of memories, first and last day, aliases."""
    return list_rows(reply["entities"], _entity_line, reply["total"], "entity")


@entities_command.command("show")
@words_argument("name", required=True, metavar="NAME…", help="Its name, or an alias.")
@limit_option
@key_option
@command_from_call(Client.entity)
def show_entity(reply: EntityShowReply) -> Iterator[str]:
    """Show an entity: its page, opinions, aliases and memories, the newest first."""
    yield _entity_line(reply)
    if reply["page"]:
        yield f"  page: {harmless_line(reply['page'])}"
    if reply["opinions"]:
        yield "  opinions:"
        yield from (f"    {opinion_line(opinion)}" for opinion in reply["opinions"])
    if reply["memories"]:
        yield "  memories:"
    for memory in reply["memories"]:
        flags = f"  ({', '.join(memory['flags'])})" if memory["flags"] else ""
        place = f"{memory['id'][:SHORT_ID]}  {harmless_line(memory['source'])}{flags}"
        yield f"    {memory['day']}  {memory['kind']}: {harmless_line(memory['content'])}  {place}"


@entities_command.command("merge")
@argument("words", nargs=-1, required=True, metavar="NAME INTO ENTITY", help="As in: merge Pete into Peter.")
@dry_option
@with_invocation
def merge(invocation: Invocation, words: tuple[str, ...], dry_run: bool) -> Exit:
    """Make a name an alias of an entity, in the front matter of its page. Logs stay unchanged; undo takes it back."""
    names = [word for number, word in enumerate(words) if (number, len(words), word.lower()) != (1, 3, "into")]
    if len(names) != 2:
        raise click.UsageError('which name into which: memoryctl entities merge Pete into Peter; quote "Two Words"')
    reply = invocation.memory.merge_entity(names[0], names[1], dry_run=dry_run)
    done = f"{reply['alias']} is an alias of {reply['entity']}"
    return invocation.show(reply, _change_lines(reply, done, nothing=f"{done} already"))


@entities_command.command("split")
@words_argument("alias", required=True, metavar="ALIAS…", help="The alias to take out.")
@dry_option
@command_from_call(Client.split_entity)
def split(reply: EntityChangeReply) -> Iterator[str]:
    """Remove an alias from the page of its entity, so that it becomes a separate entity; undo takes it back."""
    done = f"{reply['alias']} is no alias of {reply['entity']} any more"
    return _change_lines(reply, done, nothing=done)


def _change_lines(reply: EntityChangeReply, done: str, *, nothing: str) -> Iterator[str]:
    if reply["diff"] and not reply["written"]:
        yield harmless(reply["diff"]).removesuffix("\n")
        return
    yield harmless_line(done if reply["diff"] else nothing)
    yield from undo_notes([reply["change"]])
    if reply["change"] is None and reply["note"]:
        yield Note(reply["note"])


def _entity_line(entity: EntityReply) -> str:
    first, last = entity["firstSeen"], entity["lastSeen"]
    days = "" if first is None or last is None else first if first == last else f"{first} to {last}"
    return in_columns(
        bold(entity["name"]),
        count(entity["memoryCount"], "memory", "memories"),
        days,
        f"also {', '.join(map(harmless_line, entity['aliases']))}" if entity["aliases"] else "",
    )


SHOWN = 10
"""Pages listed at most."""
_STEPS = {"planning": "reading {} memories", "pages": "looking at {} pages", "proposals": "looking at {} notes"}
STATES = ("open", "accepted", "rejected", "outdated", "all")


def _report_steps(invocation: Invocation) -> None:
    """Print the steps of a run on stderr, from the events of the daemon; print nothing if events cannot be read."""
    with contextlib.suppress(MemorydError):
        for event in invocation.client().events(agent=invocation.agent):
            summary = _STEPS.get(str(event["data"].get("step")))
            if event["event"] == Event.REFLECT and summary is not None:
                note(summary.format(event["data"].get("count")))


@click.command("reflect")
@click.option("--since", metavar="AGE", help="Start from this day: 7d, or 2026-10-01 (else memory.reflect.since).")
@flag("--dry-run", help="Say what would be written and proposed, and write nothing.")
@flag("--allow-loss", help="Let pages lose statements whose memories were deleted on purpose.")
@with_invocation
def reflect_command(invocation: Invocation, since: str | None, dry_run: bool, allow_loss: bool) -> Exit:
    """Bring entity pages and opinions up to date, and propose what you have to decide."""
    if is_terminal(sys.stderr) and not invocation.is_json:
        threading.Thread(target=_report_steps, args=(invocation,), daemon=True).start()
    reply = invocation.memory.reflect(since, dry_run=dry_run, allow_loss=allow_loss)
    return invocation.show(reply, _reflect_lines(reply))


def _reflect_lines(reply: ReflectReply) -> Iterator[str]:
    # imported here: it would add a third to the time of the entities and opinions commands
    from memoryd.cli.memory.memories import pair_lines

    would = "would write" if reply["dryRun"] else "wrote"
    memories = count(reply["memories"], "memory", "memories")
    yield f"{would} {count(len(reply['pages']), 'page')} of {memories}"
    yield from (f"  {harmless_line(page)}" for page in reply["pages"][:SHOWN])
    if (more := len(reply["pages"]) - SHOWN) > 0:
        yield f"  … and {more} more"
    if reply["steps"]:
        yield f"{count(reply['steps'], 'piece')} of evidence counted for or against opinions"
    if reply["proposals"]:
        would = "would propose" if reply["dryRun"] else "proposed"
        yield f"{would} {count(len(reply['proposals']), 'change')}; memoryctl proposals list"
        yield from (
            f"  {proposal['id']}  {harmless_line(proposal['path'])}  {harmless_line(proposal['why'])}"
            for proposal in reply["proposals"]
        )
    yield from pair_lines(reply["copies"], reply["acrossScopes"])
    if reply["disagreements"]:
        yield f"{count(reply['disagreements'], 'pair')} may contradict each other; memoryctl disagreements"
    if reply["coreLeftOut"]:
        yield Note(f"{count(reply['coreLeftOut'], 'fact')} did not fit into the core file: memory.core.maxChars")
    yield from (Note(f"{refusal['path']} was left unchanged: {refusal['why']}") for refusal in reply["refusals"])


proposals_argument = argument("proposals", nargs=-1, required=True, metavar="ID…", help="The proposals, by their ids.")


@click.group("proposals")
def proposals_command() -> None:
    """Look at changes that reflect proposes, and accept or reject them."""


@proposals_command.command("list")
@click.option(
    "--state", type=click.Choice(STATES), default="open", show_default=True, help="Only proposals in this state."
)
@with_invocation
def list_proposals(invocation: Invocation, state: str) -> Exit:
    """List proposals, the oldest first; exit 3 if there are none."""
    reply = invocation.memory.proposals(None if state == "all" else state)
    return invocation.show(reply, _proposal_lines(reply, state), code=exit_code_of(reply["proposals"]))


@proposals_command.command("show")
@argument("name", metavar="ID", help="The proposal, by its id or the first four characters of it.")
@command_from_call(Client.proposal)
def show(reply: ProposalReply) -> Iterator[str]:
    """Show what a proposal changes, and why."""
    state = "" if reply["state"] == "open" else f" ({reply['state']})"
    yield f"{reply['id']}{state}: {harmless_line(reply['why'])}"
    yield harmless(reply["diff"]).removesuffix("\n")


@proposals_command.command("accept")
@proposals_argument
@with_invocation
def accept(invocation: Invocation, proposals: tuple[str, ...]) -> Exit:
    """Write what proposals say, if their lines can still be identified without doubt."""
    return _report(invocation, [invocation.memory.accept_proposal(proposal) for proposal in proposals])


@proposals_command.command("reject")
@proposals_argument
@with_invocation
def reject(invocation: Invocation, proposals: tuple[str, ...]) -> Exit:
    """Take proposals out of the queue; the same lines are not proposed again."""
    return _report(invocation, [invocation.memory.reject_proposal(proposal) for proposal in proposals])


def _proposal_lines(reply: ProposalsReply, state: str) -> Iterator[str]:
    for proposal in reply["proposals"]:
        mark = "" if proposal["state"] == "open" else f"{proposal['state']}  "
        yield f"{proposal['id']}  {mark}{harmless_line(proposal['path'])}  {harmless_line(proposal['why'])}"
    if (more := reply["total"] - len(reply["proposals"])) > 0:
        yield Note(f"{more} more are not shown")
    if not reply["total"]:
        yield Note("no proposals" if state == "all" else f"no {state} proposals")


def _report(invocation: Invocation, replies: list[DecidedProposalReply]) -> Exit:
    lines = (f"{reply['id']} {reply['state']}: {harmless_line(reply['path'])}" for reply in replies)
    notes = chain.from_iterable(
        undo_notes([reply["change"]]) if reply["change"] else [reply["note"]] for reply in replies
    )
    return invocation.show(replies[0] if len(replies) == 1 else replies, lines, filter(None, notes))


_WHY = {
    "authority": "the later one is not its owner's word",
    "people": "another person of the team said the other",
    "copy": "the older one is only in a conflict copy: memoryctl conflicts",
    "unsure": "both may hold, or it is unknown who said the earlier",
    "stated": "one says that it contradicts the other",
}
_AGES = ("newer", "older")


@click.group("disagreements", invoke_without_command=True)
@shared
@click.pass_context
def disagreements_command(context: click.Context) -> Exit | None:
    """List memories that may contradict each other, and say which hold; `memoryctl forget ID` removes one."""
    return context.invoke(list_disagreements) if context.invoked_subcommand is None else None


@disagreements_command.command("list")
@command_from_call(Client.disagreements, found_at="disagreements")
def list_disagreements(reply: DisagreementsReply) -> Iterator[str]:
    """List the pairs, the newest first; exit 3 if there are none."""
    for pair in reply["disagreements"]:
        yield f"{pair['id']}  {_WHY[pair['doubt']]}"
        for memory in (pair["newer"], pair["older"]):
            first = ", recalled first" if memory["id"] == pair["leads"] else ""
            author = memory["saidBy"] or "by hand"
            yield f"   {harmless_line(memory['name'])}: {harmless_line(memory['text'])}"
            yield "   " + style(f"{memory['id'][:SHORT_ID]} · {author} · {memory['source']}{first}", dim=True)
    if (more := reply["total"] - len(reply["disagreements"])) > 0:
        yield Note(f"{more} more are not shown")
    if not reply["total"]:
        yield Note("no disagreements")
    else:
        yield Note("to settle one: memoryctl disagreements keep ID newer|older|NAME|both, or memoryctl forget ID")


@disagreements_command.command("keep")
@argument("name", metavar="ID", help="The pair, by its id or that of one of its memories.")
@argument("keep", metavar="newer|older|NAME|both", help="Which one holds: the list shows the names before the texts.")
@command_from_call(Client.settle_disagreement)
def keep(reply: SettledReply) -> Iterator[str]:
    """Say which of two memories holds; the other then counts as earlier. `both` keeps the two side by side."""
    keep = reply["keep"]
    summary = "both hold" if keep == "both" else f"the {keep} one holds" if keep in _AGES else f"what {keep} says holds"
    yield f"{reply['id']}: {summary}"
    yield from undo_notes(reply["changes"])
