"""The last rules of an ignore file that could be read, kept so that they hold after a restart, too."""

import re
from contextlib import suppress
from pathlib import Path

from memoryd.domain.patterns import Patterns
from memoryd.files.writing import replace_file

_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


class LastGoodRules:
    """The rules of `workspace` that held last; their text is kept in the file `memory`, if there is one."""

    def __init__(self, workspace: Path, memory: Path | None) -> None:
        self._workspace = workspace
        self._memory = memory
        self.text, self.is_forgotten = _remembered(memory)
        """The text, None if there never was a file; and whether there is one that cannot be read now."""
        self.patterns = self.parsed(self.text)

    def parsed(self, text: str | None) -> Patterns:
        """Return the patterns of a text, one a line."""
        return Patterns(_lines(text), folder=str(self._workspace))

    def are_lost_in(self, text: str) -> bool:
        """Tell whether one of the rules is missing from a text."""
        return bool(self.patterns) and not set(_lines(self.text)) <= set(_lines(text))

    def accept(self, text: str, patterns: Patterns) -> None:
        """Take these for the rules that hold."""
        self.is_forgotten = False
        if text == self.text:
            return
        self.text, self.patterns = text, patterns
        if self._memory is not None and (text or self._memory.exists()):
            # what cannot be kept is missed only if the file is unreadable at the next start
            with suppress(OSError):
                replace_file(self._memory, text.encode())


def _lines(text: str | None) -> list[str]:
    return _LINE_END.split(text or "")


def _remembered(memory: Path | None) -> tuple[str | None, bool]:
    """Return the text of the last good rules, and whether there were some that cannot be read now."""
    if memory is None:
        return None, False
    try:
        return memory.read_bytes().decode(), False
    except FileNotFoundError:
        return None, False
    except (OSError, ValueError):
        return None, True
