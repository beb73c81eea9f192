"""memoryctl recall: memories and passages that answer, each with its citation."""

import sys
from collections.abc import Iterator
from typing import get_args

import click

from memoryd.cli.answer_health import WHY, AnswerWorth, lacking, strict_option, took_part
from memoryd.cli.invocation import HELP, SHORT_ID, Argument, Invocation, shared
from memoryd.cli.terminal import behind_gutter, encoded, harmless, harmless_line, note, styled
from memoryd.replies.recall import Encode, RecallItemReply, RecallReply
from memoryd.wire import DEADLINE_MS_MAX, RESULTS_MAX, Exit


@click.command("recall", context_settings=HELP)
@click.argument(
    "words",
    nargs=-1,
    cls=Argument,
    metavar="QUERY…",
    help='The question, in one word or several; "-": read it from standard input.',
)
@click.option(
    "-k",
    "--k",
    "--limit",
    "k",
    type=click.IntRange(1, RESULTS_MAX),
    help="How many memories and passages at most (else memory.recall.k).",
)
@click.option("--since", metavar="DATE", help="Only what happened on this day or later: 2026-10-01, or 30d.")
@click.option("--until", metavar="DATE", help="Only what happened on this day or earlier.")
@click.option("--as-of", metavar="DATE", help="What was true on this day, in the versions of then.")
@click.option("--known-by", metavar="DATE", help="What was known on this day.")
@click.option("--entity", metavar="NAME", help="Only memories about this entity, by any of its names.")
@click.option("--kind", metavar="KIND", help="Only memories of this kind, such as opinion, preference, world.")
@click.option("--scope", metavar="SCOPE", help="Only memories of this scope, such as workspace, global, agent:ID.")
@click.option(
    "--budget", type=click.IntRange(0, 100_000), help="Tokens of a bundle at most (else memory.recall.budget)."
)
@click.option("--bundle", is_flag=True, help="Print text for a prompt: what stays the same, then what is recalled.")
@click.option(
    "--encode",
    type=click.Choice(get_args(Encode)),
    default="text",
    help="Print the bundle as text, or as JSON in the message shape of an API (implies --bundle).",
)
@click.option("--session-key", metavar="KEY", help="The session that asks, such as agent:main:main.")
@click.option(
    "--deadline-ms",
    type=click.IntRange(1, DEADLINE_MS_MAX),
    help="Milliseconds for the answer, which comes by then with what is there (else query.deadlineMs).",
)
@click.option("--no-touch", is_flag=True, help="Only look: what is told does not count as used.")
@click.option("--explain", is_flag=True, help="Show why each one was chosen, and what was cut and why.")
@strict_option
@shared
@click.pass_obj
def recall_command(
    invocation: Invocation,
    words: tuple[str, ...],
    k: int | None,
    since: str | None,
    until: str | None,
    as_of: str | None,
    known_by: str | None,
    entity: str | None,
    kind: str | None,
    scope: str | None,
    budget: int | None,
    bundle: bool,
    encode: Encode,
    session_key: str | None,
    deadline_ms: int | None,
    no_touch: bool,
    explain: bool,
    strict: bool,
) -> Exit:
    """Recall what the memory holds about QUERY, best first, each with its citation."""
    is_bundle = bundle or budget is not None or encode != "text"
    with invocation.client() as client:
        reply = client.recall(
            _question(words),
            k=k,
            since=since,
            until=until,
            as_of=as_of,
            known_by=known_by,
            entity=entity,
            kind=kind,
            scope=scope,
            budget=budget,
            format="bundle" if is_bundle else "items",
            encode=encode,
            deadline_ms=deadline_ms,
            touch=not no_touch,
            explain=explain,
            agent=invocation.agent,
            session_key=session_key,
        )
    if invocation.is_json:
        invocation.print_json(reply)
    else:
        _print(reply, is_bundle=is_bundle)
        if explain:
            note(WHY)
    return _worth(reply).exit_code(is_strict=strict)


def _question(words: tuple[str, ...]) -> str:
    text = sys.stdin.read() if words == ("-",) else " ".join(words)
    if not text.strip():
        raise click.UsageError('no question: memoryctl recall "what does Peter prefer"')
    return text.strip()


def _worth(reply: RecallReply) -> AnswerWorth:
    is_found, health = bool(reply["results"]), reply["health"]
    return AnswerWorth(reply["verdict"], reply["reason"], health, is_found, took_part(health))


def _print(reply: RecallReply, *, is_bundle: bool) -> None:
    if is_bundle:
        bundle = reply.get("bundle", "")
        click.echo(harmless(bundle) if isinstance(bundle, str) else encoded(bundle), nl=not isinstance(bundle, str))
        for line in reply.get("receipt", []):
            told = f"{line['tokens']} tokens" if line["told"] else "left out"
            note(f"{harmless_line(line['name'])}: {told}" + (f" ({line['cut']})" if line["cut"] else ""))
    else:
        for number, item in enumerate(reply["results"], start=1):
            click.echo(("" if number == 1 else "\n") + "\n".join(_lines(f"{number}.", item)))
    for item in reply.get("leftOut", []):
        click.echo("\n" + "\n".join(_lines("-", item)))
    for line_ in _notes(reply):
        note(line_)
    if not is_bundle and not _is_by_score(reply):
        note("the scores do not give this order: asked days, current versions or the newest come first (see --explain)")


def _is_by_score(reply: RecallReply) -> bool:
    """Tell whether the items stand in the order of the scores that are shown."""
    shown = [round(item["score"], 2) for item in reply["results"] if "score" in item]
    return shown == sorted(shown, reverse=True)


def _notes(reply: RecallReply) -> Iterator[str]:
    yield from _worth(reply).notes("memory")
    if fallback := reply["fallback"]:
        yield f"answered by {reply['backend']}: {fallback['reason']}"
    yield from lacking(reply["health"])


def _lines(mark: str, item: RecallItemReply) -> Iterator[str]:
    """Yield an item line by line: `mark`, citation, what it is and how sure, then what it says."""
    place = harmless_line(item.get("citation") or item.get("path") or "")
    score = styled(f"{item['score']:.2f}", colour="green") if "score" in item else ""
    told = "  ".join(part for part in (f"{mark} {styled(place, bold=True)}", score, _about(item)) if part)
    yield told
    for line in item["content"].rstrip("\n").split("\n"):
        yield behind_gutter(line, is_marked=False)
    yield from _more(item)


def _about(item: RecallItemReply) -> str:
    told = [item.get("type", item["is"]), item.get("timestamp", ""), *item.get("entities", [])]
    told += [item["name"]] if "name" in item else []
    if "confidence" in item:
        told.append(f"c={item['confidence']:.2f}")
    told += [item["id"][:SHORT_ID]] if "id" in item else []
    told += ["superseded"] if item.get("supersededBy") else []
    told += [f"disputed by {', '.join(key[:SHORT_ID] for key in item['doubtedBy'])}"] if "doubtedBy" in item else []
    told += [item["state"]] if item.get("state", "verified") != "verified" else []
    told += ["(no answer)"] if item.get("verdict") == "none" else []
    return styled(harmless_line(" · ".join(part for part in told if part)), dim=True)


def _more(item: RecallItemReply) -> Iterator[str]:
    if older := item.get("supersedes"):
        yield "   " + styled(f"supersedes {', '.join(key[:SHORT_ID] for key in older)}", dim=True)
    if evidence := item.get("evidence"):
        for word in ("for", "against"):
            cited = [source for one in evidence[word] for source in one["sources"]]
            if cited:
                yield "   " + styled(f"{word}: {harmless_line(', '.join(cited))}", dim=True)
    if (explained := item.get("explain")) and explained["because"]:
        yield "   " + styled(harmless_line(explained["because"]), dim=True)
