"""What the assistant said last in each session, which the user may correct with the next message."""

from collections import OrderedDict
from typing import Final

from memoryd.memory.forgetting.remembered_texts import drop_with_the_others

SESSIONS_MAX: Final = 256
"""Sessions whose last answer is known without asking anybody."""
ANSWER_CHARS: Final = 8_000
"""Of an answer that may be corrected."""


class LastAnswers:
    """The last answers of sessions, by their keys, in memory alone: all go when something is forgotten."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        drop_with_the_others(self)

    def note(self, key: str, text: str) -> None:
        """Know what was said last in a session; without a key nothing is."""
        if key:
            self._texts.pop(key, None)
            self._texts[key] = text[-ANSWER_CHARS:]
            while len(self._texts) > SESSIONS_MAX:
                self._texts.popitem(last=False)

    def of(self, key: str) -> str:
        """Return what was said last in a session, empty where that is not known."""
        return self._texts.get(key, "")

    def drop_texts(self) -> None:
        """Know none any more; what a session keeps of it is asked there."""
        self._texts.clear()
