"""memoryctl search and get: cited hits for a question, and the text of a document or of cited lines."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, repeat
from itertools import count as count_from
from typing import Unpack

import click

from memoryd.cli.answer_health import WHY, deadline_option, question_argument, required_question, strict_option, worth
from memoryd.cli.invocation import Invocation, Number, argument, found, key_option, text_or_stdin, verb
from memoryd.cli.terminal import behind_gutter, count, harmless, harmless_line, is_terminal, note, styled
from memoryd.client import SearchBounds
from memoryd.domain.citations import Citation, cited, is_conversation, one_line, parse
from memoryd.replies.search import FileReply, HitExplanation, HitReply, LinesReply, SearchReply
from memoryd.wire import LINES_MAX, POSITION_MAX, RESULTS_MAX, Exit

MALFORMED_LINES = "beyond --max-results or below --min-score:"
NEIGHBOURS = 3
"""Lines before and after those of a citation, on a terminal."""
INDENT = "   "


@click.command("search")
@question_argument
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
@key_option
@deadline_option
@click.option("--explain", is_flag=True, help="Show how each score came about, and the nearest misses.")
@strict_option
@verb
def search_command(
    invocation: Invocation,
    words: tuple[str, ...],
    query: str | None,
    explain: bool,
    strict: bool,
    **bounds: Unpack[SearchBounds],
) -> Exit:
    """Find what notes and conversations say about QUERY, best first, each hit with its citation."""
    if words and query is not None:
        raise click.UsageError("give the question as words or with --query, not both")
    example = 'memoryctl search "which port does the gateway use"'
    question = required_question(text_or_stdin(" ".join(words)) if query is None else query, example)
    reply = invocation.memory.search(question, explain=explain, **bounds)
    code, notes = worth(reply, "note", is_found=bool(reply["results"]), is_strict=strict, by=_fallback_notes(reply))
    return invocation.show(reply, _answer_lines(reply, explain), [*notes, *[WHY] * explain], code=code)


def _answer_lines(reply: SearchReply, is_explained: bool) -> Iterator[str]:
    for number, hit in enumerate(reply["results"], start=1):
        yield ("" if number == 1 else "\n") + "\n".join(hit_lines(f"{number}.", hit, is_explained))
    misses = reply.get("misses") or []
    if misses:
        yield f"\n{MALFORMED_LINES}" if reply["results"] else MALFORMED_LINES
    for miss in misses:
        yield "\n" + "\n".join(hit_lines("-", miss, is_explained))


def _fallback_notes(reply: SearchReply) -> Iterator[str]:
    if fallback := reply.get("fallback"):
        left = str(dict(fallback).get("from", "qmd"))
        # the other backend, or the same one with another provider's vectors
        engine = reply["backend"] if left == "qmd" else f"{reply['provider']} in the place of {left}"
        yield f"answered by {engine}: {fallback['reason']}"


@click.command("get")
@argument(
    "path",
    metavar="PATH[#L10-L20]",
    help="The document as search cites it, relative to the workspace; with lines, those alone.",
)
@click.option(
    "--from", "start", type=click.IntRange(1, POSITION_MAX), metavar="LINE", help="First line, counted from 1."
)
@click.option("--lines", type=click.IntRange(1, LINES_MAX), metavar="N", help="How many lines at most.")
@click.option(
    "--column", type=click.IntRange(1, POSITION_MAX), metavar="N", help="First character of that line, counted from 1."
)
@click.option(
    "-C",
    "--context",
    "around",
    type=click.IntRange(0, LINES_MAX),
    metavar="N",
    help=f"So many lines before and after those of the citation too (else {NEIGHBOURS} on a terminal, 0 elsewhere).",
)
@key_option
@verb
def get_command(
    invocation: Invocation,
    path: str,
    start: int | None,
    lines: int | None,
    column: int | None,
    around: int | None,
) -> Exit:
    """Print a document or conversation of the memory, or the lines of a citation, exactly, but for secrets.

    On a terminal cited lines stand among their neighbours, and are marked.
    """
    cited = _citation(path)
    if cited.start_line is not None and (start or lines):
        raise click.UsageError("give the lines in the citation or with --from and --lines, not both")
    if cited.start_line is None and around is not None:
        raise click.UsageError("--context is for cited lines: memoryctl get MEMORY.md#L3-L4 --context 5")
    if cited.start_line is not None:
        start = cited.start_line
        lines = (cited.end_line or start) - start + 1
    read = partial(invocation.memory.get, cited.path)
    reply = read(start=start, lines=lines, column=column)
    is_marked = cited.start_line is not None and is_terminal(sys.stdout) and not invocation.is_json
    around = around if around is not None else NEIGHBOURS if is_marked else 0
    shown = _with_neighbours(read, reply, around) if reply["lines"] == lines else reply
    if invocation.is_json:
        invocation.print_json(shown)
    else:
        _print_file(shown, cited if is_marked else None)
        _note_rest(reply, start or 1, lines)
        if flags := reply.get("flags"):
            note(f"flags: {', '.join(flags)}")
        _note_end(reply["totalLines"], start, cited.end_line)
    return found(start is None or start <= reply["totalLines"])


def _citation(text: str) -> Citation:
    if not text.strip():
        raise click.UsageError("no document: memoryctl get MEMORY.md")
    if "#L" not in text and not is_conversation(text.partition("#")[0]):
        return Citation(text)  # a file name may hold a #
    try:
        cited = parse(text)
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc
    if (cited.end_line or 0) - (cited.start_line or 0) >= LINES_MAX:
        raise click.UsageError(
            f"not a line range: L{cited.start_line}-L{cited.end_line} (at most {LINES_MAX:,} lines at once)"
        )
    return cited


def _with_neighbours(read: Callable[..., FileReply], cited: FileReply, around: int) -> FileReply:
    """Return cited lines with so many around them, or alone where these would take their room in the reply."""
    if not around or cited.get("nextColumn"):
        return cited
    first = max(1, cited["from"] - around)
    behind = cited["from"] + cited["lines"]
    wider = read(start=first, lines=min(LINES_MAX, behind + around - first))
    whole = wider["lines"] - (1 if wider.get("nextColumn") else 0)
    return wider if first + whole >= behind else cited


def _note_end(total: int, start: int | None, end: int | None) -> None:
    """Say so if lines were asked for that lie behind the end of the document."""
    if start is not None and start > total:
        note(f"there is no line {start:,}, the document has {count(total, 'line')}")
    elif end is not None and end > total:
        note(f"the document ends at line {total:,}")


def _print_file(reply: FileReply, marked: Citation | None) -> None:
    text = reply["text"]
    if marked is not None and marked.start_line is not None:
        wanted = range(marked.start_line, (marked.end_line or marked.start_line) + 1)
        lines = text.removesuffix("\n").split("\n") if text else []
        for number, line in enumerate(lines, start=reply["from"]):
            click.echo(behind_gutter(line, is_marked=number in wanted))
    elif is_terminal(sys.stdout):
        click.echo(harmless(text), nl=bool(text) and not text.endswith("\n"))
    else:
        # bytes: click would take escape sequences out of text, and the locale could change letters
        click.echo(text.encode(errors="surrogatepass"), nl=False)


def _note_rest(reply: FileReply, start: int, asked: int | None) -> None:
    """Say where to go on if not all that was asked for had room in the reply."""
    if column := reply.get("nextColumn"):
        line = start + reply["lines"] - 1
        note(f"line {line} is too long for one reply; its rest: --from {line} --column {column}")
    elif reply.get("truncated") and (asked is None or reply["lines"] < asked):
        following = reply.get("nextFrom")
        more = f"; go on with --from {following}" if following else ""
        note(f"cut short, the document has {count(reply['totalLines'], 'line')}{more}")


def hit_lines(mark: str, hit: HitReply, is_explained: bool) -> Iterator[str]:
    """Yield a hit line by line: `mark`, citation, score and heading, then its snippet, and why it is there."""
    focus = hit.get("focus") or {"startLine": hit["startLine"], "endLine": hit["endLine"]}
    citation = cited(harmless(one_line(hit["path"])), focus["startLine"], focus["endLine"])
    heading = harmless_line(hit.get("heading") or "")
    score = styled(f"{hit['score']:.2f}", colour="green")
    copies = f"  (+{hit['duplicates']} copies)" if hit.get("duplicates") else ""
    worth = f"  {styled('(no answer)', dim=True)}" if hit.get("verdict") == "none" else ""
    flags = f"  ({', '.join(hit['flags'])})" if hit.get("flags") else ""
    head = f"{mark} {styled(str(citation), bold=True)}  {score}{worth}{copies}{flags}"
    yield f"{head}  {styled(heading, dim=True)}" if heading else head
    yield from _snippet_lines(hit)
    if is_explained and (why := _explanation(hit)):
        yield f"{INDENT}{styled(why, dim=True)}"


def _snippet_lines(hit: HitReply) -> Iterator[str]:
    """Yield the lines of the snippet, those of the focus marked and bold."""
    focus, lines = hit.get("focus"), hit["snippet"].rstrip("\n").split("\n")
    # behind those of the document stands the footer
    numbers = chain(hit.get("snippetLines") or count_from(hit.get("snippetStartLine", 1)), repeat(0))
    # line by line: an escape sequence that does not end would else take the lines behind it away
    for number, line in zip(numbers, lines, strict=False):
        is_focus = focus is not None and focus["startLine"] <= number <= focus["endLine"]
        yield behind_gutter(line, is_marked=is_focus)


def _explanation(hit: HitReply) -> str:
    scores = {"words": hit.get("textScore"), "vector": hit.get("vectorScore")}
    given = [f"{name} {score:.3f}" for name, score in scores.items() if score is not None]
    given += [hit["verdict"]] if hit.get("verdict") else []
    explained = hit.get("explain")
    if explained is None:
        return " · ".join(given)
    because = harmless_line(explained.get("because", ""))
    return " · ".join(part for part in (*given, because, _why_focus(hit, explained)) if part)


def _why_focus(hit: HitReply, explained: HitExplanation) -> str:
    focus, why = hit.get("focus"), explained.get("focus")
    if not focus or not why:
        return ""
    reasons = [harmless_line(", ".join(why["terms"]))] if why["terms"] else []
    if passage := why["passage"]:
        reasons.append(f"the passage nearest in meaning ({_range(hit, passage)})")
    return f"focus {_range(hit, focus)}: " + (" and ".join(reasons) or "nothing in it tells more than the rest")


def _range(hit: HitReply, lines: LinesReply) -> str:
    return cited(hit["path"], lines["startLine"], lines["endLine"]).place
