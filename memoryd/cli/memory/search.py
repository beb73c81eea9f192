"""memoryctl search, recall and get: answer a question, say how complete the answer is, and print cited lines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Literal, Unpack, get_args

import click

from memoryd.cli.invocation import (
    SHORT_ID,
    Invocation,
    Number,
    argument,
    exit_code_of,
    flag,
    key_option,
    text_or_stdin,
    with_invocation,
)
from memoryd.cli.terminal import (
    count,
    dotted,
    harmless,
    harmless_line,
    in_columns,
    is_terminal,
    note,
    style,
    to_json,
    with_gutter,
)
from memoryd.client import RecallBounds, SearchBounds
from memoryd.domain.documents import Citation, citation_text, escape_controls, is_conversation, name_marks, parse
from memoryd.wire import DEADLINE_MS_MAX, LINES_MAX, POSITION_MAX, RESULTS_MAX, EncodingName, Exit

if TYPE_CHECKING:  # importing these at run time would slow every command down
    from memoryd.replies.memories import MemorySearchReply
    from memoryd.replies.recall import RecallItemReply, RecallReply
    from memoryd.replies.search import FileReply, HitExplanation, HitReply, LinesReply, SearchHealth, SearchReply

    JudgedReply = SearchReply | RecallReply | MemorySearchReply

question_argument = argument(
    "question",
    nargs=-1,
    metavar="QUERY…",
    callback=lambda _context, _parameter, words: text_or_stdin(" ".join(words)),
    help='The question, as one or more words; "-": read it from standard input.',
)
deadline_option = click.option(
    "--deadline-ms",
    type=click.IntRange(1, DEADLINE_MS_MAX),
    help="Milliseconds for the answer, which is given by then even if it is incomplete (else query.deadlineMs).",
)
strict_option = flag("--strict", help="Exit with 4 if a configured part did not contribute to the answer.")
WHY = "docs/explanation/why-recalled.md says what each reason means, and what changes it"
ARM_NAMES = {"lexical": "search by words", "vector": "search by meaning"}
ARM_STATES = {
    "off": "did not take part",
    "partial": "took part with what it has",
    "timeout": "was too slow",
    "waiting": "was not ready",
    "failed": "failed",
}


def _require_question(question: str, example: str) -> str:
    """Return the question without surrounding blanks; raise UsageError, with an example, if it is empty."""
    if not question.strip():
        raise click.UsageError(f"no question: {example}")
    return question.strip()


def assess(
    answer: JudgedReply, noun: str, *, has_results: bool, is_strict: bool, by: Iterable[str] = ()
) -> tuple[Exit, list[str]]:
    """Return the exit code of an answer, and notes: how good it is, then `by`, then what is missing from it.

    `noun` names a result. With `is_strict`, an incomplete answer exits with INCOMPLETE. If there is no result and no
    arm took part, the code is ERROR.
    """
    health, verdict, reason = answer["health"], answer["verdict"], answer.get("reason")
    remarks: list[str] = []
    code = Exit.INCOMPLETE if is_strict and not health["complete"] else exit_code_of(verdict != "none")
    # the reply to a search has the mode of all arms; for other replies one arm that searched is enough
    states = {health["arms"][name]["state"] for name in (health["arms"].keys() & ARM_NAMES or health["arms"])}
    has_taken_part = mode != "none" if (mode := answer.get("mode")) else not states.isdisjoint(("ok", "partial"))
    if not has_results and not has_taken_part:
        code = Exit.ERROR
        remarks = [f"no answer: {reason or 'no arm took part'}"]
    elif not has_results:
        remarks = [f"nothing found: {reason or f'no {noun} matches'}"]
    elif verdict == "none":
        remarks = [f"nothing answers: {reason or 'this is only the nearest'}"]
    elif verdict == "weak":
        remarks = [f"only weak matches: {reason or 'the answer may not be among them'}"]
    return code, [*remarks, *by, *_gap_notes(health)]


def _gap_notes(health: SearchHealth) -> Iterator[str]:
    if not health["complete"]:
        missing = [(name, arm) for name, arm in health["arms"].items() if arm["state"] != "ok"]
        for name, arm in missing:
            words = ARM_STATES.get(arm["state"], arm["state"])
            yield f"{ARM_NAMES.get(name, f'the {name} arm')} {words}: {arm.get('reason') or 'no reason given'}"
        if not missing and not health["pendingFiles"]:
            yield "the answer is not complete: see memoryctl status"
    if health["pendingFiles"]:
        yield f"{count(health['pendingFiles'], 'file')} not yet indexed"
    vector = health["arms"].get("vector")
    if health["pendingEmbeddings"] and (vector is None or vector["state"] == "ok" or health["complete"]):
        yield f"{count(health['pendingEmbeddings'], 'passage')} not yet found by meaning, only by words"


NEIGHBOURS = 3
"""Lines shown before and after a citation on a terminal."""
INDENT = "   "
context_option = partial(
    click.option,
    *("-C", "--context", "around"),
    metavar="N",
    help=f"Also show N lines before and after the citation (else {NEIGHBOURS} on a terminal, 0 elsewhere).",
)


@click.command("search")
@question_argument
@click.option("--query", metavar="TEXT", help="The question as one text, instead of the words.")
@click.option(
    *("-k", "--k", "--limit", "--max-results", "max_results"),
    type=click.IntRange(1, RESULTS_MAX),
    help="How many hits at most (else query.maxResults).",
)
@click.option(
    "--min-score",
    type=Number(0, 1),
    help="Leave out hits with a lower score that contain no word of the question (else query.minScore).",
)
@click.option("--since", metavar="DATE", help="Only documents of this date or later: 2026-10-01, or 30d (ago).")
@click.option("--until", metavar="DATE", help="Only documents of this date or earlier: 2026-10-01, or 30d (ago).")
@click.option(
    "--path", "--paths", "paths", multiple=True, metavar="GLOB", help="Only this glob, file or folder; repeatable."
)
@click.option(
    *("--source", "--sources", "sources"),
    multiple=True,
    type=click.Choice(["memory", "sessions"]),
    help="Ask notes (memory), conversations (sessions), or both; repeatable (else memorySearch.sources).",
)
@key_option
@deadline_option
@flag("--explain", help="Show how each score was computed, and the nearest misses.")
@strict_option
@with_invocation
def search_command(
    invocation: Invocation,
    question: str,
    query: str | None,
    explain: bool,
    strict: bool,
    **bounds: Unpack[SearchBounds],
) -> Exit:
    """Find what notes and conversations say about QUERY, best first, each hit with its citation."""
    if question and query is not None:
        raise click.UsageError("give the question as words or with --query, not both")
    question = _require_question(query or question, 'memoryctl search "which port does the gateway use"')
    reply = invocation.memory.search(question, explain=explain, **bounds)
    code, notes = assess(reply, "note", has_results=bool(reply["results"]), is_strict=strict, by=_fallback_notes(reply))
    return invocation.show(reply, _answer_lines(reply, explain), [*notes, *[WHY] * explain], code=code)


def _answer_lines(reply: SearchReply, is_explained: bool) -> Iterator[str]:
    for number, hit in enumerate(reply["results"], start=1):
        yield ("" if number == 1 else "\n") + "\n".join(hit_lines(f"{number}.", hit, is_explained))
    if misses := reply.get("misses"):
        yield "\n" * bool(reply["results"]) + "beyond --max-results or below --min-score:"
        yield from ("\n" + "\n".join(hit_lines("-", miss, is_explained)) for miss in misses)


def _fallback_notes(reply: SearchReply) -> Iterator[str]:
    if fallback := reply.get("fallback"):
        replaced = str(dict(fallback).get("from", "qmd"))
        # either another backend answered, or the same backend with the vectors of another provider
        engine = reply["backend"] if replaced == "qmd" else f"{reply['provider']} in the place of {replaced}"
        yield f"answered by {engine}: {fallback['reason']}"


@click.command("get")
@argument(
    "path",
    metavar="PATH[#L10-L20]",
    help="The document as search cites it, below the workspace; with lines, only these.",
)
@click.option(
    "--from", "start", type=click.IntRange(1, POSITION_MAX), metavar="LINE", help="First line, counted from 1."
)
@click.option("--lines", type=click.IntRange(1, LINES_MAX), metavar="N", help="How many lines at most.")
@click.option(
    "--column", type=click.IntRange(1, POSITION_MAX), metavar="N", help="First character of that line, counted from 1."
)
@context_option(type=click.IntRange(0, LINES_MAX))
@key_option
@with_invocation
def get_command(
    invocation: Invocation, path: str, start: int | None, lines: int | None, column: int | None, around: int | None
) -> Exit:
    """Print a document or conversation of the memory, or cited lines, exactly except for secrets.

    On a terminal cited lines are marked and shown with the lines around them.
    """
    citation = _citation(path)
    if citation.start_line is not None and (start or lines):
        raise click.UsageError("give the lines in the citation or with --from and --lines, not both")
    if citation.start_line is None and around is not None:
        raise click.UsageError("--context is for cited lines: memoryctl get MEMORY.md#L3-L4 --context 5")
    if citation.start_line is not None:
        start = citation.start_line
        lines = (citation.end_line or start) - start + 1
    read = partial(invocation.memory.get, citation.path)
    reply = read(start=start, lines=lines, column=column)
    is_marked = citation.start_line is not None and is_terminal(sys.stdout) and not invocation.is_json
    around = around if around is not None else NEIGHBOURS if is_marked else 0
    shown = _with_neighbours(read, reply, around) if reply["lines"] == lines else reply
    if invocation.is_json:
        invocation.print_json(shown)
    else:
        _print_file(shown, citation if is_marked else None)
        _note_rest(reply, start or 1, lines)
        if flags := reply.get("flags"):
            note(f"flags: {', '.join(flags)}")
        _note_end(reply["totalLines"], start, citation.end_line)
    return exit_code_of(start is None or start <= reply["totalLines"])


def _citation(text: str) -> Citation:
    if not text.strip():
        raise click.UsageError("no document: memoryctl get MEMORY.md")
    if "#L" not in text and not is_conversation(text.partition("#")[0]):
        return Citation(text)  # a file name may hold a #
    try:
        citation = parse(text)
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc
    if (citation.end_line or 0) - (citation.start_line or 0) >= LINES_MAX:
        lines = f"L{citation.start_line}-L{citation.end_line}"
        raise click.UsageError(f"not a line range: {lines} (at most {LINES_MAX:,} lines at once)")
    return citation


def _with_neighbours(read: Callable[..., FileReply], reply: FileReply, around: int) -> FileReply:
    """Return cited lines with `around` lines on each side, or alone if the neighbours would displace cited lines.

    A reply is limited in size, so that a wider one may end before the last cited line.
    """
    if not around or reply.get("nextColumn"):
        return reply
    first = max(1, reply["from"] - around)
    end = reply["from"] + reply["lines"]
    wider = read(start=first, lines=min(LINES_MAX, end + around - first))
    complete_lines = wider["lines"] - bool(wider.get("nextColumn"))
    return wider if first + complete_lines >= end else reply


def _note_end(total: int, start: int | None, end: int | None) -> None:
    """Print a note if requested lines are beyond the end of the document."""
    if start is not None and start > total:
        note(f"there is no line {start:,}, the document has {count(total, 'line')}")
    elif end is not None and end > total:
        note(f"the document ends at line {total:,}")


def _print_file(reply: FileReply, marked: Citation | None) -> None:
    text = reply["text"]
    if marked is not None and marked.start_line is not None:
        marked_lines = range(marked.start_line, (marked.end_line or marked.start_line) + 1)
        lines = text.removesuffix("\n").split("\n") if text else []
        for number, line in enumerate(lines, start=reply["from"]):
            click.echo(with_gutter(line, is_marked=number in marked_lines))
    elif is_terminal(sys.stdout):
        click.echo(harmless(text), nl=bool(text) and not text.endswith("\n"))
    else:
        # as bytes: click would remove escape sequences from text, and the locale could change letters
        click.echo(text.encode(errors="surrogatepass"), nl=False)


def _note_rest(reply: FileReply, start: int, requested: int | None) -> None:
    """Print a note that says how to read on if the reply was too small for the requested lines."""
    if column := reply.get("nextColumn"):
        line = start + reply["lines"] - 1
        note(f"line {line} is too long for one reply; its rest: --from {line} --column {column}")
    elif reply.get("truncated") and (requested is None or reply["lines"] < requested):
        following = reply.get("nextFrom")
        more = f"; go on with --from {following}" if following else ""
        note(f"cut short, the document has {count(reply['totalLines'], 'line')}{more}")


def hit_lines(mark: str, hit: HitReply, is_explained: bool) -> Iterator[str]:
    """Yield the lines of a hit: `mark`, citation, score and heading, then its snippet, then the explanation."""
    focus = hit.get("focus") or {"startLine": hit["startLine"], "endLine": hit["endLine"]}
    citation = citation_text(harmless(escape_controls(hit["path"])), focus["startLine"], focus["endLine"])
    score = style(f"{hit['score']:.2f}", colour="green")
    yield in_columns(
        f"{mark} {style(str(citation), bold=True)}",
        score,
        style("(no answer)", dim=True) if hit.get("verdict") == "none" else "",
        f"(+{hit['duplicates']} copies)" if hit.get("duplicates") else "",
        f"({', '.join(hit['flags'])})" if hit.get("flags") else "",
        style(harmless_line(hit["heading"]), dim=True) if hit.get("heading") else "",
    )
    yield from _snippet_lines(hit)
    if is_explained and (why := _explanation(hit)):
        yield f"{INDENT}{style(why, dim=True)}"


def _snippet_lines(hit: HitReply) -> Iterator[str]:
    """Yield the lines of the snippet, those of the focus marked and bold."""
    focus, lines = hit.get("focus"), f"{name_marks(hit.get('person'))}{hit['snippet']}".rstrip("\n").split("\n")
    # the footer comes after the lines of the document and has no line numbers
    numbers = chain(
        hit.get("snippetLines") or (hit.get("snippetStartLine", 1) + row for row in range(len(lines))), repeat(0)
    )
    # line by line, because an unterminated escape sequence would remove the lines after it
    for number, line in zip(numbers, lines, strict=False):
        yield with_gutter(line, is_marked=focus is not None and focus["startLine"] <= number <= focus["endLine"])


def _explanation(hit: HitReply) -> str:
    scores = {"words": hit.get("textScore"), "vector": hit.get("vectorScore")}
    parts = [f"{name} {score:.3f}" for name, score in scores.items() if score is not None]
    parts.append(hit.get("verdict", ""))
    if explained := hit.get("explain"):
        parts += [harmless_line(explained.get("because", "")), _why_focus(hit, explained)]
    return dotted(*parts)


def _why_focus(hit: HitReply, explained: HitExplanation) -> str:
    focus, why = hit.get("focus"), explained.get("focus")
    if not focus or not why:
        return ""
    reasons = [harmless_line(", ".join(why["terms"]))] if why["terms"] else []
    if passage := why["passage"]:
        reasons.append(f"the passage nearest in meaning ({_range(hit, passage)})")
    return f"focus {_range(hit, focus)}: " + (" and ".join(reasons) or "nothing in it answers better than the rest")


def _range(hit: HitReply, lines: LinesReply) -> str:
    return citation_text(hit["path"], lines["startLine"], lines["endLine"]).place


@click.command("recall")
@question_argument
@click.option(
    "-k", "--k", "--limit", "k", type=click.IntRange(1, RESULTS_MAX), help="How many results (else memory.recall.k)."
)
@click.option("--since", metavar="DATE", help="Only events of this day or later: 2026-10-01, or 30d.")
@click.option("--until", metavar="DATE", help="Only events of this day or earlier.")
@click.option("--as-of", metavar="DATE", help="What was true on this day, in the versions of that day.")
@click.option("--known-by", metavar="DATE", help="What was known on this day.")
@click.option("--entity", metavar="NAME", help="Only memories about this entity, by any of its names.")
@click.option("--kind", metavar="KIND", help="Only memories of this kind, such as opinion, preference, world.")
@click.option("--scope", metavar="SCOPE", help="Only memories of this scope, such as workspace, global, agent:ID.")
@click.option(
    "--budget", type=click.IntRange(0, 100_000), help="Tokens of a bundle at most (else memory.recall.budget)."
)
@flag("--bundle", help="Print text for a prompt: first the stable block, then the recalled memories.")
@click.option(
    "--encode",
    type=click.Choice(get_args(EncodingName)),
    default="text",
    help="Print the bundle as text, or as JSON in the message shape of an API (implies --bundle).",
)
@key_option
@deadline_option
@flag("--no-touch", help="Do not count the returned memories as used.")
@flag("--explain", help="Show why each result was chosen, and what was left out and why.")
@strict_option
@with_invocation
def recall_command(
    invocation: Invocation,
    question: str,
    bundle: bool,
    no_touch: bool,
    explain: bool,
    strict: bool,
    **bounds: Unpack[RecallBounds],
) -> Exit:
    """Recall memories about QUERY, best first, each with its citation."""
    is_bundle = bundle or bounds["budget"] is not None or bounds["encode"] != "text"
    question = _require_question(question, 'memoryctl recall "what does Peter prefer"')
    form: Literal["bundle", "items"] = "bundle" if is_bundle else "items"
    reply = invocation.memory.recall(question, format=form, touch=not no_touch, explain=explain, **bounds)
    by = [f"answered by {reply['backend']}: {reply['fallback']['reason']}"] if reply["fallback"] else []
    code, notes = assess(reply, "memory", has_results=bool(reply["results"]), is_strict=strict, by=by)
    if is_bundle:
        notes = [*_receipt(reply), *notes]
    else:
        scores = [round(item["score"], 2) for item in reply["results"] if "score" in item]
        if scores != sorted(scores, reverse=True):
            notes.append("asked days, current versions or the newest come first, before better scores (see --explain)")
    return invocation.show(reply, _recalled_lines(reply, is_bundle=is_bundle), [*notes, *[WHY] * explain], code=code)


def _recalled_lines(reply: RecallReply, *, is_bundle: bool) -> Iterator[str]:
    if is_bundle:
        if bundle := reply.get("bundle"):
            yield harmless(bundle).removesuffix("\n") if isinstance(bundle, str) else to_json(bundle)
    else:
        for number, item in enumerate(reply["results"], start=1):
            yield ("" if number == 1 else "\n") + "\n".join(_item_lines(f"{number}.", item))
    for item in reply.get("leftOut", []):
        yield "\n" + "\n".join(_item_lines("-", item))


def _receipt(reply: RecallReply) -> Iterator[str]:
    for line in reply.get("receipt", []):
        parts = f"{line['tokens']} tokens" if line["told"] else "left out"
        yield f"{harmless_line(line['name'])}: {parts}" + (f" ({line['cut']})" if line["cut"] else "")


def _item_lines(mark: str, item: RecallItemReply) -> Iterator[str]:
    """Yield the lines of an item: `mark`, citation, score and description, then its text, then its relations."""
    place = harmless_line(item.get("citation") or item.get("path") or "")
    score = style(f"{item['score']:.2f}", colour="green") if "score" in item else ""
    yield in_columns(f"{mark} {style(place, bold=True)}", score, _description(item))
    for line in f"{name_marks(item.get('person'))}{item['content']}".rstrip("\n").split("\n"):
        yield with_gutter(line, is_marked=False)
    yield from _relation_lines(item)


def _description(item: RecallItemReply) -> str:
    text = dotted(
        item.get("type", item["is"]),
        item.get("timestamp"),
        *item.get("entities", []),
        item.get("name"),
        f"c={item['confidence']:.2f}" if "confidence" in item else "",
        item.get("id", "")[:SHORT_ID],
        *item.get("flags", []),
        "superseded" if item.get("supersededBy") else "",
        f"disputed by {', '.join(key[:SHORT_ID] for key in item['doubtedBy'])}" if "doubtedBy" in item else "",
        "" if item.get("state") == "verified" else item.get("state"),
        "(no answer)" if item.get("verdict") == "none" else "",
    )
    return style(harmless_line(text), dim=True)


def _relation_lines(item: RecallItemReply) -> Iterator[str]:
    if older := item.get("supersedes"):
        yield INDENT + style(f"supersedes {', '.join(key[:SHORT_ID] for key in older)}", dim=True)
    if evidence := item.get("evidence"):
        for word in ("for", "against"):
            sources = [source for line in evidence[word] for source in line["sources"]]
            if sources:
                yield INDENT + style(f"{word}: {harmless_line(', '.join(sources))}", dim=True)
    if (explained := item.get("explain")) and explained["because"]:
        yield INDENT + style(harmless_line(explained["because"]), dim=True)
