"""Take out of a message what OpenClaw's own machinery tells its model: blocks between two lines, and older forms."""

from typing import Final

_BEGIN, _END = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"
_NOTICE: Final = "This context is runtime-generated, not user-authored. Keep internal details private."
_OLD_HEADING: Final = "OpenClaw runtime context (internal):"
_EVENT: Final = "[Internal task completion event]"
_RESULT_BEGIN, _RESULT_END = "<<<BEGIN_UNTRUSTED_CHILD_RESULT>>>", "<<<END_UNTRUSTED_CHILD_RESULT>>>"
_ACTION: Final = "Action:"
_PREFACES: Final = frozenset(
    {"OpenClaw runtime context for the immediately preceding user message.", "OpenClaw runtime event."}
)


def without_runtime_context(text: str) -> str:
    """Return the text without them. A block that never ends goes to the end of the text; blocks may be nested."""
    if _BEGIN in text:
        text = _without_blocks(text)
    return _without_prefaces(text) if _NOTICE in text else text


def _without_blocks(text: str) -> str:
    kept, depth = [], 0
    for line in text.split("\n"):
        bare = line.removesuffix("\r")
        if bare == _BEGIN:
            depth += 1
        elif bare == _END and depth:
            depth -= 1
        elif not depth:
            kept.append(line)
    return "\n".join(kept)


def _without_prefaces(text: str) -> str:
    raw = text.split("\n")
    lines, kept, at = [line.strip() for line in raw], list[str](), 0
    while at < len(lines):
        is_noticed = at + 1 < len(lines) and lines[at + 1] == _NOTICE
        if is_noticed and lines[at] in _PREFACES:
            at += 2
        elif is_noticed and lines[at] == _OLD_HEADING and lines[at + 2 : at + 4] == ["", _EVENT]:
            at = _events_end(lines, at + 3)
        else:
            kept.append(raw[at])
            at += 1
    return "\n".join(kept)


def _events_end(lines: list[str], at: int) -> int:
    """Return the line behind the events of which the first begins at `at`; each ends with a paragraph of what to do."""
    while True:
        at = _event_end(lines, at)
        if lines[at : at + 4] != ["", "---", "", _EVENT]:
            return at
        at += 3


def _event_end(lines: list[str], at: int) -> int:
    """Return the line behind an event: the blank one behind what is to be done, or the first one if it has no such."""
    awaited, blank = [_RESULT_BEGIN, _RESULT_END, _ACTION], None
    for here in range(at + 1, len(lines)):
        line = lines[here]
        if not line and (blank is None or not awaited):
            blank = here
        if (not line and not awaited) or line == _EVENT:
            # at another event, too: what has not its full form ends before, and no line is looked at for two of them
            return here if blank is None else blank
        if awaited and line == awaited[0]:
            del awaited[0]
    return len(lines) if blank is None or not awaited else blank
