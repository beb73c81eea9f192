"""memoryctl opinions: what is thought, how firmly, and why."""

from collections.abc import Iterator, Sequence

import click

from memoryd.cli.invocation import SHORT_ID, Invocation, argument, key_option, limit_option, verb
from memoryd.cli.terminal import count, harmless_line, styled
from memoryd.replies.knowledge import OpinionReplayReply, OpinionReply, OpinionStepReply, OpinionWhyReply
from memoryd.wire import Exit

_RULES = {"supports": "its line says so", "contradicts": "its line says so", "restated": "says the same"}


@click.group("opinions")
def opinions_command() -> None:
    """Show opinions with their confidence, and why they are held."""


@opinions_command.command("list")
@click.option("--entity", metavar="NAME", help="Only opinions about this entity, or an alias of it.")
@limit_option
@key_option
@verb
def listing(invocation: Invocation, entity: str | None, limit: int | None) -> Exit:
    """List opinions, the firmest first: confidence, what is thought, evidence for and against, id."""
    reply = invocation.memory.opinions(entity=entity, limit=limit)
    return invocation.show_list(reply, map(opinion_line, reply["opinions"]), reply["total"], "opinion")


@opinions_command.command("why")
@argument("opinion", metavar="ID", help="The opinion, by its id or the first signs of it.")
@key_option
@verb
def why(invocation: Invocation, opinion: str) -> Exit:
    """Say why an opinion is held: each step with its evidence, and the confidence before and after it."""
    reply = invocation.memory.why_opinion(opinion)
    return invocation.show(reply, _why_lines(reply))


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
    told = [f"{one['confidence']:.2f}", _about(one), evidence, one["id"][:SHORT_ID], harmless_line(one["source"])]
    return "  ".join(told)


def _about(one: OpinionReply) -> str:
    names = " ".join(f"@{harmless_line(name)}" for name in one["entities"])
    statement = styled(harmless_line(one["statement"]), bold=True)
    return f"{names}: {statement}" if names else statement


def _replay_lines(reply: OpinionReplayReply) -> Iterator[str]:
    for one in reply["differing"]:
        recorded = f"{one['before']!r} -> {one['after']!r}"
        computed = f"{one['computedBefore']!r} -> {one['computedAfter']!r}"
        yield f"{one['id']}  {harmless_line(one['statement'])}"
        yield f"  {one['evidence'][:SHORT_ID]}  recorded {recorded}, computed {computed}"
    told = f"{count(reply['opinions'], 'opinion')}, {count(reply['steps'], 'step')}"
    yield f"{told}: {'all equal' if reply['equal'] else str(len(reply['differing'])) + ' differ'}"


def _why_lines(reply: OpinionWhyReply) -> Iterator[str]:
    """Yield what is thought, what its lines say, then the steps, those that count no more last."""
    yield f"{_about(reply)}  {reply['id']}"
    yield f"  {reply['base']:.2f}  by its own lines  {harmless_line(reply['source'])}"
    yield from _step_lines(reply["steps"])
    yield f"  {reply['confidence']:.2f}  now"
    if reply["setAside"]:
        yield "  set aside, since its lines give another confidence:"
        yield from _step_lines(reply["setAside"])


def _step_lines(steps: Sequence[OpinionStepReply]) -> Iterator[str]:
    for step in steps:
        rule = _RULES.get(step["labelledBy"], harmless_line(step["labelledBy"]))
        cited = ", ".join(map(harmless_line, step["citations"])) or "its line is gone"
        moved = f"{step['before']:.2f} -> {step['after']:.2f}"
        yield f"  {moved}  {step['label']} ({rule})  {step['day']}  {step['evidence'][:SHORT_ID]}  {cited}"
        if step["content"]:
            yield f"    {harmless_line(step['content'])}"
