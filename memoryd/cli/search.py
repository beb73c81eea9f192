"""memoryctl search: cited hits for a question."""

import sys
from collections.abc import Iterator

import click

from memoryd.cli.answer_health import AnswerWorth, lacking, strict_option
from memoryd.cli.hits import hit_lines
from memoryd.cli.invocation import HELP, Argument, Invocation, Number, shared
from memoryd.cli.terminal import note
from memoryd.replies.search import SearchHealth, SearchReply
from memoryd.wire import DEADLINE_MS_MAX, RESULTS_MAX, Exit

NEAR_MISSES = "beyond --max-results or below --min-score:"


@click.command("search", context_settings=HELP)
@click.argument(
    "words",
    nargs=-1,
    cls=Argument,
    metavar="QUERY…",
    help='The question, in one word or several; "-": read it from standard input.',
)
@click.option("--query", metavar="TEXT", help="The question as one text, instead of the words.")
@click.option(
    "-k",
    "--k",
    "--limit",
    "--max-results",
    "max_results",
    type=click.IntRange(1, RESULTS_MAX),
    help="How many hits at most (else query.maxResults).",
)
@click.option(
    "--min-score",
    type=Number(0, 1),
    help="Leave out hits with a lower score that hold no word of the question (else query.minScore).",
)
@click.option("--since", metavar="DATE", help="Only what is of this date or later: 2026-10-01, or 30d for as long ago.")
@click.option(
    "--until", metavar="DATE", help="Only what is of this date or earlier: 2026-10-01, or 30d for as long ago."
)
@click.option(
    "--path",
    "--paths",
    "paths",
    multiple=True,
    metavar="GLOB",
    help="Only these documents: a glob, a file or a folder; repeatable.",
)
@click.option(
    "--source",
    "--sources",
    "sources",
    multiple=True,
    type=click.Choice(["memory", "sessions"]),
    help="Ask notes (memory), conversations (sessions), or both; repeatable (else memorySearch.sources).",
)
@click.option("--session-key", metavar="KEY", help="The session that asks, such as agent:main:main.")
@click.option(
    "--deadline-ms",
    type=click.IntRange(1, DEADLINE_MS_MAX),
    help="Milliseconds for the answer, which comes by then with what is there (else query.deadlineMs).",
)
@click.option("--explain", is_flag=True, help="Show how each score came about, and the nearest misses.")
@strict_option
@shared
@click.pass_obj
def command(
    invocation: Invocation,
    words: tuple[str, ...],
    query: str | None,
    max_results: int | None,
    min_score: float | None,
    since: str | None,
    until: str | None,
    paths: tuple[str, ...],
    sources: tuple[str, ...],
    session_key: str | None,
    deadline_ms: int | None,
    explain: bool,
    strict: bool,
) -> Exit:
    """Find what notes and conversations say about QUERY, best first, each hit with its citation."""
    question = _question(words, query)
    with invocation.client() as client:
        reply = client.search(
            question,
            agent=invocation.agent,
            max_results=max_results,
            min_score=min_score,
            session_key=session_key,
            sources=list(sources) or None,
            since=since,
            until=until,
            paths=list(paths) or None,
            deadline_ms=deadline_ms,
            explain=explain,
        )
    if invocation.is_json:
        invocation.print_json(reply)
    else:
        _print(reply, explain)
    return _worth(reply).exit_code(is_strict=strict)


def _question(words: tuple[str, ...], query: str | None) -> str:
    if words and query is not None:
        raise click.UsageError("give the question as words or with --query, not both")
    text = sys.stdin.read() if words == ("-",) else " ".join(words) if query is None else query
    if not text.strip():
        raise click.UsageError('no question: memoryctl search "which port does the gateway use"')
    return text.strip()


def _worth(reply: SearchReply) -> AnswerWorth:
    is_found, took_part = bool(reply["results"]), reply["mode"] != "none"
    return AnswerWorth(reply["verdict"], reply.get("reason"), reply["health"], is_found, took_part)


def _print(reply: SearchReply, is_explained: bool) -> None:
    for number, hit in enumerate(reply["results"], start=1):
        click.echo(("" if number == 1 else "\n") + "\n".join(hit_lines(f"{number}.", hit, is_explained)))
    misses = reply.get("misses") or []
    if misses:
        click.echo(f"\n{NEAR_MISSES}" if reply["results"] else NEAR_MISSES)
    for miss in misses:
        click.echo("\n" + "\n".join(hit_lines("-", miss, is_explained)))
    for line in _worth(reply).notes("note"):
        note(line)
    for line in _health_notes(reply, reply["health"]):
        note(line)


def _engine(reply: SearchReply, left: str) -> str:
    """Say who answered in the place of `left`: the other backend, or the same one with another provider's vectors."""
    return reply["backend"] if left == "qmd" else f"{reply['provider']} in the place of {left}"


def _health_notes(reply: SearchReply, health: SearchHealth) -> Iterator[str]:
    fallback = reply.get("fallback")
    if fallback:
        yield f"answered by {_engine(reply, str(dict(fallback).get('from', 'qmd')))}: {fallback['reason']}"
    yield from lacking(health)
