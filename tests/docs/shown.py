"""What the pages show: the commands, configurations and programs of their code blocks."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "HACKING.md", *sorted((ROOT / "docs").rglob("*.md"))]
OURS = frozenset({"memoryd", "memoryctl", "make", "curl"})
_BLOCK = re.compile(r"^ *```(?P<kind>sh|json5|python)\n(?P<text>.*?)^ *```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Command:
    """A line to type, continuations joined, without its comment."""

    line: str

    @property
    def programs(self) -> list[str]:
        """The programs that the line runs."""
        words = shlex.split(self.line, comments=True)
        starts = [0, *(at + 1 for at, word in enumerate(words) if word in ("|", "||", "&&", ";"))]
        found = [words[at] for at in starts if at < len(words)]
        return [words[2] if name == "timeout" else name for name in found]

    @property
    def is_ours(self) -> bool:
        return not OURS.isdisjoint(self.programs) or any(f"$({name} " in self.line for name in OURS)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration file, or a part of one."""

    text: str

    @property
    def whole(self) -> str:
        return self.text if self.text.lstrip().startswith("{") else "{" + self.text + "}"


@dataclass(frozen=True, slots=True)
class Program:
    """A Python program."""

    text: str


def shown(page: Path) -> Iterator[Command | Configuration | Program]:
    """Yield what a page shows, in order."""
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["kind"] == "json5":
            yield Configuration(block["text"])
        elif block["kind"] == "python":
            yield Program(block["text"])
        else:
            joined = re.sub(r"\\\n\s*", "", block["text"])
            yield from (Command(line.strip()) for line in joined.splitlines() if line.strip())
