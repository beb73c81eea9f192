"""Hits as a person sees them: cited, with the lines marked that answer best."""

from collections.abc import Iterator
from itertools import chain, count, repeat

from memoryd.cli.terminal import behind_gutter, harmless, harmless_line, styled
from memoryd.domain.citations import cited, one_line
from memoryd.replies.search import HitExplanation, HitReply, LinesReply

INDENT = "   "


def hit_lines(mark: str, hit: HitReply, is_explained: bool) -> Iterator[str]:
    """Yield a hit line by line: `mark`, citation, score and heading, then its snippet, and why it is there."""
    focus = hit.get("focus") or {"startLine": hit["startLine"], "endLine": hit["endLine"]}
    citation = cited(harmless(one_line(hit["path"])), focus["startLine"], focus["endLine"])
    heading = harmless_line(hit.get("heading") or "")
    score = styled(f"{hit['score']:.2f}", colour="green")
    copies = f"  (+{hit['duplicates']} copies)" if hit.get("duplicates") else ""
    worth = f"  {styled('(no answer)', dim=True)}" if hit.get("verdict") == "none" else ""
    head = f"{mark} {styled(str(citation), bold=True)}  {score}{worth}{copies}"
    yield f"{head}  {styled(heading, dim=True)}" if heading else head
    yield from _snippet_lines(hit)
    if is_explained and (why := _explanation(hit)):
        yield f"{INDENT}{styled(why, dim=True)}"


def _snippet_lines(hit: HitReply) -> Iterator[str]:
    """Yield the lines of the snippet, those of the focus marked and bold."""
    focus, lines = hit.get("focus"), hit["snippet"].rstrip("\n").split("\n")
    # behind those of the document stands the footer
    numbers = chain(hit.get("snippetLines") or count(hit.get("snippetStartLine", 1)), repeat(0))
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
