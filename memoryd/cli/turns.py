"""How turns of conversations and what is known of their sessions are shown."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from memoryd.cli.terminal import count, harmless, harmless_line, percent, size, styled
from memoryd.replies.conversations import QaSessionReply, QaStatsReply, QaTopicReply, QaTurnReply

SHOWN_PLACES = 3
"""Addresses of a topic."""


def turn_lines(turns: Sequence[QaTurnReply]) -> Iterator[str]:
    """Yield turns with an empty line between them."""
    for number, turn in enumerate(turns):
        yield ("\n" if number else "") + "\n".join(_turn_lines(turn))


def _turn_lines(turn: QaTurnReply) -> Iterator[str]:
    """Yield a turn: its address, when it was and what about, then the question and the answer that is kept."""
    about = [harmless_line(topic) for topic in turn["topics"]]
    yield "  ".join([styled(harmless_line(turn["citation"]), bold=True), _minute(turn["timestamp"]), *about])
    yield f"  Q: {_indented(turn['q'])}"
    if turn["a"] is not None:
        yield f"  A: {_indented(turn['a'])}"


def session_line(session: QaSessionReply) -> str:
    """Return a session on one line."""
    told = [
        _minute(session["lastActivity"]),
        count(session["turns"], "turn"),
        count(session["answers"], "answer") + " kept",
    ]
    if not session["remembered"]:
        told.append("not remembered")
    return "  ".join([styled(harmless_line(session["session"]), bold=True), *told])


def topic_line(topic: QaTopicReply) -> str:
    """Return a topic with the places where it was talked about last."""
    places = [harmless_line(place) for place in topic["citations"][-SHOWN_PLACES:]]
    more = "  …" if topic["turns"] > len(places) else ""
    return "  ".join([styled(harmless_line(topic["topic"]), bold=True), count(topic["turns"], "turn"), *places]) + more


def stats_lines(stats: QaStatsReply) -> Iterator[str]:
    """Yield how much there is."""
    turns, answers = stats["turns"], stats["answers"]
    yield f"sessions  {stats['sessions']:,} and {stats['archived']:,} in the archive"
    yield f"turns     {turns:,}"
    yield f"answers   {answers:,} kept ({percent(answers, turns)})"
    yield f"files     {size(stats['bytes'])} and {size(stats['archiveBytes'])} in the archive"


def _minute(moment: str) -> str:
    try:
        return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return harmless_line(moment)


def _indented(text: str) -> str:
    return "\n     ".join(harmless(text).rstrip().split("\n"))
