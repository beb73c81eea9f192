"""Commands in what a user says, such as `/remember TEXT`. They cost no token of a model.

The slash may be full-width, and so may the letters, whose case does not matter; Chinese may follow the name without a
blank, and `@name`, as chat programs write it, is passed over. What is no command of ours is plain text.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from memoryd.domain.expressions import expression

CommandName = Literal["remember", "recall", "compact"]


class SlashCommand(Struct, frozen=True):
    """A command; the method of its name of `TurnCommands` carries it out.

    `takes` is what its text is called, empty where it takes none; `without` is told to who gives no text.
    """

    name: CommandName
    help: str
    takes: str = ""
    without: str = ""


SLASH_COMMANDS = (
    SlashCommand(
        "remember",
        "Keep the text as a note of importance 0.8, or as the memory that it is written as.",
        takes="TEXT",
        without="Nothing was remembered: say what, as in /remember I take my coffee black.",
    ),
    SlashCommand(
        "recall",
        "Tell what answers the question.",
        takes="QUESTION",
        without="Nothing was looked for: say what, as in /recall which coffee do I take?",
    ),
    SlashCommand("compact", "Sum up the session as a memory."),
)
"""Their names stand also in `hooks/hook_run.py` and `replies/conversations.py`; a test compares."""

_CHINESE = (
    "\u2e80-\u2fdf\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01\uff0c\uff1a\uff1f\U00020000-\U0003ffff"
)
_COMMAND = expression(
    r"[\s\ufeff\u200b\u2060]*+[/／](?P<name>[A-Za-zＡ-Ｚａ-ｚ]{1,20}+)(?:@[A-Za-z0-9_]{1,64}+)?"
    rf"(?:\Z|(?=[\s:{_CHINESE}])[\s：:]*+(?P<text>.*))",
    re.DOTALL,
)
_ROWS: Mapping[str, SlashCommand] = {row.name: row for row in SLASH_COMMANDS}


class SpokenCommand(Struct, frozen=True):
    """A command, and what stands behind its name: without blanks around it, empty where nothing does."""

    row: SlashCommand
    text: str


def command_of(text: str) -> SpokenCommand | None:
    """Return the command that a message is, None if it is plain text."""
    found = _COMMAND.match(text)
    row = _ROWS.get(unicodedata.normalize("NFKC", found["name"]).lower()) if found else None
    return SpokenCommand(row, (found["text"] or "").strip()) if found and row else None
