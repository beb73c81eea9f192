"""What the tools answer as text, for clients that show no structured content. Memory text stands behind a gutter.

Every line of it begins with the gutter, so that no text can end what it stands in or pass for ours.
"""

from collections.abc import Iterator

from memoryd.domain.text.sanitizing import Flag, text_flags, visible_text
from memoryd.domain.text.tokens import estimate
from memoryd.mcp.token_bound import json_text
from memoryd.mcp.tool_answers import (
    FoundText,
    FoundTexts,
    ProposalText,
    ProposalTexts,
    ReadText,
    ToolContent,
    WrittenAnswer,
)

GUTTER = "  | "


def shown(text: str, flags: list[str] | None = None) -> tuple[str, list[str] | None]:
    """Return a text without signs that nobody sees, and its flags, to which these belong; None for none."""
    clean = visible_text(text)
    found = [*(flags or []), *(str(flag) for flag in text_flags(text))]
    if clean != text.replace("\r\n", "\n").replace("\r", "\n"):
        found.append(str(Flag.INVISIBLE))
    return clean, list(dict.fromkeys(found)) or None


def one_line(text: str) -> str:
    """Return what is shown of a name on one line."""
    return " ".join(visible_text(text).split())


def json_of(answer: ToolContent) -> str:
    """Return the structured content as it is sent."""
    return json_text(answer.content())


def text_cost(text: str) -> int:
    """Estimate the tokens of a text in an answer: as JSON has it, or behind the gutter, whichever is more."""
    return max(estimate(json_text(text)), estimate("\n".join(_behind_gutter(text))))


def told(answer: ToolContent) -> str:
    """Return an answer as text."""
    match answer:
        case FoundTexts() | ProposalTexts():
            parts = list(_listed(answer))
        case ReadText():
            parts = list(_read(answer))
        case WrittenAnswer():
            parts = list(_written(answer))
        case _:
            raise TypeError(f"no text for {type(answer).__name__}")
    return "\n".join([*parts, *([f"note: {answer.cut}"] if answer.cut else [])])


def piece_told(piece: FoundText | ProposalText) -> str:
    """Return one piece as text: where it comes from, and behind the gutter what it says."""
    return "\n".join([_head(piece), *_behind_gutter(piece.text)])


def _listed(answer: FoundTexts | ProposalTexts) -> Iterator[str]:
    number = len(answer.results)
    yield f"{number} result{'' if number == 1 else 's'}. {answer.notice}"
    for piece in answer.results:
        yield piece_told(piece)
    if isinstance(answer, FoundTexts):
        if answer.verdict in ("none", "weak") or answer.reason:
            yield f"note: {answer.reason or 'the answer may not be among them'}"
        if answer.missing:
            yield f"note: did not take part: {answer.missing}"


def _head(piece: FoundText | ProposalText) -> str:
    if isinstance(piece, ProposalText):
        told = [piece.id, piece.kind, piece.path, piece.day]
    else:
        told = [piece.citation or piece.path, piece.corpus, piece.kind, piece.day, *(piece.about or []), piece.id]
        told += ["superseded"] if piece.superseded else []
        told += ["pinned"] if piece.pinned else []
        told += [piece.state] if piece.state not in (None, "verified") else []
        told += [f"{piece.score:.2f}"] if piece.score is not None else []
        told += ["no answer"] if piece.verdict == "none" else []
    return one_line("- " + "; ".join(part for part in [*told, *(piece.flags or [])] if part))


def _read(answer: ReadText) -> Iterator[str]:
    if answer.memory is not None:
        yield answer.notice
        yield _head(answer.memory)
        yield one_line("stated by " + ", ".join(answer.sources or ["nothing"]))
    else:
        first, count = answer.from_line or 1, answer.lines or 0
        of = f" of {answer.total_lines}" if answer.total_lines is not None else ""
        flags = f" ({', '.join(answer.flags)})" if answer.flags else ""
        yield f"{one_line(answer.path or '')}, lines {first} to {first + count - 1}{of}{flags}. {answer.notice}"
    yield from _behind_gutter(answer.text)
    if answer.next_from is not None:
        column = f', "column": {answer.next_column}' if answer.next_column else ""
        yield f'note: it goes on: "from": {answer.next_from}{column}'


def _written(answer: WrittenAnswer) -> Iterator[str]:
    place = answer.citation or answer.path or ""
    yield one_line(f"{answer.done}: {'; '.join(part for part in (place, answer.id) if part)}")
    if answer.undo:
        yield f"to take it back: {answer.undo}"
    yield from (f"note: {one_line(note)}" for note in answer.notes or [])


def _behind_gutter(text: str) -> list[str]:
    return [(GUTTER + line).rstrip() for line in text.rstrip("\n").split("\n")]
