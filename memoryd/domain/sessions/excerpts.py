"""Some turns of a session, as many as a reply can hold, and where it goes on."""

from dataclasses import dataclass

from memoryd.domain.sessions.turn_addresses import ALL_TURNS, SeqRange
from memoryd.domain.sessions.turns import Session, Turn
from memoryd.domain.text.words import normalised


@dataclass(frozen=True, slots=True)
class SessionExcerpt:
    """A session with some of its turns; `matched` counts all that were asked for, `next_seq` is the first left out."""

    session: Session
    turns: tuple[Turn, ...]
    matched: int
    next_seq: int | None = None


def excerpt(
    session: Session, *, seqs: SeqRange = ALL_TURNS, word: str = "", max_turns: int, max_chars: int
) -> SessionExcerpt:
    """Return the turns of a range in which a word stands, in order; one at least, however long it is.

    The word may stand in question, answer or topics, in small letters or capitals.
    """
    wanted = _folded(word)
    found = [turn for turn in session.turns if turn.seq in seqs and wanted in _text(turn)]
    taken: list[Turn] = []
    chars = 0
    for turn in found[:max_turns]:
        chars += len(turn.question) + len(turn.answer or "")
        if taken and chars > max_chars:
            break
        taken.append(turn)
    left = found[len(taken) :]
    return SessionExcerpt(session, tuple(taken), len(found), left[0].seq if left else None)


def _text(turn: Turn) -> str:
    return _folded("\n".join((turn.question, turn.answer or "", *turn.topics)))


def _folded(text: str) -> str:
    return normalised(text).casefold()
