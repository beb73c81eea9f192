"""Every place that a configuration names, whatever the key, and all that links lead over on the way there."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from memoryd.config.paths import expand
from memoryd.config.section import Secret, Section

PATTERNS: Final = frozenset({"exclude"})
"""Keys whose texts may begin with a slash and name no place."""
LINKS_MAX: Final = 40
"""As many as Linux follows."""


def named_places(section: Section) -> Iterator[Path]:
    """Yield what a section and all below it name by an absolute path or by `~`, files of secrets included.

    Any text that begins so counts: a key that is no path costs a little less hardening, a path that is left out breaks
    the service. What is relative to a workspace is not here.
    """
    for name in type(section).model_fields:
        if name not in PATTERNS:
            yield from _named_by(getattr(section, name))


def on_the_way(path: Path) -> Iterator[Path]:
    """Yield a path, and each that a link on it leads to, the real one last."""
    for _ in range(LINKS_MAX):
        yield path
        link = next((one for one in reversed((path, *path.parents)) if one.is_symlink()), None)
        if link is None:
            return
        # all above the first link is real, so that `..` may be taken by its text
        path = Path(os.path.normpath(link.parent / link.readlink() / path.relative_to(link)))


def _named_by(value: object) -> Iterator[Path]:
    match value:
        case Section():
            yield from named_places(value)
        case Secret(kind="file"):
            yield from _named_by(value.content.get_secret_value())
        case str() if value.startswith(("/", "~")):
            yield expand(value, Path.home())
        case Mapping():
            yield from (path for one in value.values() for path in _named_by(one))
        case Iterable() if not isinstance(value, str):
            yield from (path for one in value for path in _named_by(one))
