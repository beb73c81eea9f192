"""What a conversation was about, in its own words: what was asked, decided, and left open. No model is asked.

Sentences are taken as they were said, in the language that most was asked in, and never more than a few of them. The
same session gives the same text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memoryd.domain.sessions.harmless_text import harmless_text
from memoryd.domain.sessions.messages_kept import is_answered
from memoryd.domain.sessions.turns import Session, SessionId, Turn

_ASKED, _DECIDED, _OPEN = 5, 4, 3
"""Sentences of each kind."""
_SENTENCE_CHARS: Final = 160
_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])\s*|\n+")
_CHINESE: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_LETTER: Final = re.compile(r"[^\W\d_]")
_AGREED: Final = re.compile(
    r"\b(?:we(?:'ll| will| decided| agreed)|i(?:'ll| will| decided| chose)|let'?s|decided|agreed|settled on"
    r"|go(?:ing)? with|from now on|the plan is|it is)\b"
    r"|决定|定了|说好|就用|就这么|选(?:了|择)|改用|以后都|方案是|我们(?:会|要|就)",
    re.IGNORECASE,
)
_LATER: Final = re.compile(
    r"\b(?:to-?do|later|tomorrow|next (?:week|time|month)|not yet|still (?:need|have to|open|missing)|remind me"
    r"|open question|need(?:s)? to|have to|waiting for|follow up|unresolved)\b"
    r"|待办|还没|尚未|以后再|明天|下周|下次|记得|提醒我|需要|等.{1,8}回复|没解决|未决",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(r"[?？]\s*\Z|[吗呢]\s*[。！]?\Z")


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """The sentences of a summary, in the order in which they were said."""

    asked: tuple[str, ...]
    decided: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    is_chinese: bool = False

    def titled(self, session: SessionId) -> str:
        """Return the text with the name of its session, so that two sessions never say the same; empty likewise."""
        head = f"会话 {session}：" if self.is_chinese else f"Session {session}: "
        return f"{head}{self.text}" if self.text else ""

    @property
    def text(self) -> str:
        """A line for each kind that there is; empty if there is none."""
        labels = ("问过：", "决定：", "未决：") if self.is_chinese else ("Asked: ", "Decided: ", "Open: ")
        between = "；" if self.is_chinese else " · "
        parts = zip(labels, (self.asked, self.decided, self.open), strict=True)
        return "\n".join(f"{label}{between.join(said)}" for label, said in parts if said)


def session_summary(session: Session) -> SessionSummary:
    """Return what a session was about."""
    turns = [turn for turn in session.turns if turn.tokens]
    asked = _first_of(turns)
    own = [sentence for turn in turns for sentence in _sentences(turn.question) if not _ASKS.search(sentence)]
    answered = [sentence for turn in turns for sentence in _sentences(turn.answer or "")]
    decided = _matching([*own, *answered], _AGREED, _DECIDED, but=asked)
    waiting = [_clipped(turn.question) for turn in turns[-1:] if not is_answered(turn) and _ASKS.search(turn.question)]
    left = _matching(own, _LATER, _OPEN, but=[*asked, *decided])
    return SessionSummary(
        tuple(asked), tuple(decided), tuple(dict.fromkeys([*left, *waiting]))[-_OPEN:], _is_chinese(turns)
    )


def _first_of(turns: Sequence[Turn]) -> list[str]:
    """Return what was asked in the turns that mattered most, in order, nothing twice."""
    said = {sentence: turn for turn in reversed(turns) if (sentence := _asked_in(turn.question))}
    ranked = sorted(said.items(), key=lambda item: (-item[1].significance, item[1].seq))[:_ASKED]
    return [sentence for sentence, _ in sorted(ranked, key=lambda item: item[1].seq)]


def _asked_in(text: str) -> str:
    """Return the sentence that asks, else the first that neither decides anything nor puts it off; empty if none."""
    told = list(_sentences(text))
    others = (one for one in told if not (_AGREED.search(one) or _LATER.search(one)))
    return _clipped(next((one for one in told if _ASKS.search(one)), next(others, "")))


def _matching(sentences: Iterable[str], pattern: re.Pattern[str], most: int, *, but: Sequence[str]) -> list[str]:
    known = set(but)
    found = (_clipped(sentence) for sentence in sentences if pattern.search(sentence))
    return list(dict.fromkeys(sentence for sentence in found if sentence not in known))[-most:]


def _sentences(text: str) -> Iterator[str]:
    yield from filter(None, (" ".join(piece.split()) for piece in _END.split(text)))


def _clipped(text: str) -> str:
    """Return the first sentence that says something, cut where it is long."""
    first = harmless_text(next((one for one in _sentences(text) if _LETTER.search(one)), ""))
    return first if len(first) <= _SENTENCE_CHARS else f"{first[: _SENTENCE_CHARS - 1].rstrip()}…"


def _is_chinese(turns: Sequence[Turn]) -> bool:
    text = "".join(turn.question for turn in turns)
    letters = len(_LETTER.findall(text))
    return letters > 0 and len(_CHINESE.findall(text)) * 2 >= letters
