"""`$include`, OpenClaw's way to divide a file: memoryd reads none, and what stands in one is never taken as absent."""

from collections.abc import Iterator
from typing import Final

from memoryd.config.loading.key_names import dotted
from memoryd.config.loading.raw import KeyPath, Raw

INCLUDE: Final = "$include"


def includes(ours: Raw) -> list[str]:
    """Return a problem for each place of our sections that another file would fill.

    An `exclude` or a `scope` may stand there: without it more would be read and told than its owner means.
    """
    return [
        f"{dotted((*place, INCLUDE))}: memoryd reads no included file; "
        "put the keys that it holds for memoryd into this one"
        for place in _places((), ours)
    ]


def _places(location: KeyPath, value: object) -> Iterator[KeyPath]:
    if isinstance(value, dict):
        if INCLUDE in value:
            yield location
        for key, below in value.items():
            yield from _places((*location, str(key)), below)
    elif isinstance(value, list):
        for number, below in enumerate(value):
            yield from _places((*location, number), below)
