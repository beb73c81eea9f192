"""Commands in what a user says: `/remember TEXT`, `/recall QUESTION`, `/compact`. They cost no token of a model.

The slash may be full-width, and so may the letters, whose case does not matter; Chinese may follow the name without a
blank, and `@name`, as chat programs write it, is passed over. What is no command of ours is plain text.
"""

import re
import unicodedata
from enum import StrEnum
from typing import Final

from msgspec import Struct

from memoryd.domain.expressions import expression

_CHINESE: Final = (
    "\u2e80-\u2fdf\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01\uff0c\uff1a\uff1f\U00020000-\U0003ffff"
)
_COMMAND: Final = expression(
    r"[\s\ufeff\u200b\u2060]*+[/／](?P<name>[A-Za-zＡ-Ｚａ-ｚ]{1,20}+)(?:@[A-Za-z0-9_]{1,64}+)?"
    rf"(?:\Z|(?=[\s:{_CHINESE}])[\s：:]*+(?P<text>.*))",
    re.DOTALL,
)


class CommandName(StrEnum):
    """What may be commanded."""

    REMEMBER = "remember"
    RECALL = "recall"
    COMPACT = "compact"


_NAMES: Final = {name.value: name for name in CommandName}


class SpokenCommand(Struct, frozen=True):
    """A command, and what stands behind its name: without blanks around it, empty where nothing does."""

    name: CommandName
    text: str


def command_of(text: str) -> SpokenCommand | None:
    """Return the command that a message is, None if it is plain text."""
    found = _COMMAND.match(text)
    name = _NAMES.get(unicodedata.normalize("NFKC", found["name"]).lower()) if found else None
    return SpokenCommand(name, (found["text"] or "").strip()) if found and name else None
