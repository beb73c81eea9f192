"""Keys that are accepted, so that an existing file loads, and have no effect: for good, or in this version."""

from collections.abc import Iterator, Mapping
from typing import Final

from memoryd.config.keys import dotted
from memoryd.config.models import Config
from memoryd.config.raw import Location, value_at

NEVER: Final[Mapping[str, str]] = {
    "memory.qmd.searchTool": "qmd is asked directly, not through mcporter",
    "memory.qmd.mcporter": "qmd is asked directly, not through mcporter",
    "memorySearch.store.fts.tokenizer": "one tokenizer serves all languages",
}
NOT_YET: Final[Mapping[str, str]] = {
    "memory.qmd.sessions": "session transcripts are not indexed",
    "memorySearch.sources": "session transcripts are not indexed",
    "memorySearch.experimental.sessionMemory": "session transcripts are not indexed",
    "memorySearch.sync.sessions": "session transcripts are not indexed",
}
"""`memorySearch.*` stands for the defaults and for every agent of the list."""


def without_effect(config: Config) -> list[str]:
    """Return one notice for each key that the file sets to something this version does not do."""
    present = config.model_dump(mode="json")
    defaults = Config().model_dump(mode="json")
    return [
        f"{dotted(location)} {what}: {reason}"
        for what, keys in (("has no effect", NEVER), ("has no effect yet", NOT_YET))
        for key, reason in keys.items()
        for location in _locations(key, config)
        if value_at(present, location) != value_at(defaults, _in_defaults(location))
    ]


def _locations(key: str, config: Config) -> Iterator[Location]:
    path = tuple(key.split("."))
    if path[0] != "memorySearch":
        yield path
        return
    yield ("agents", "defaults", *path)
    for position in range(len(config.agents.list)):
        yield ("agents", "list", position, *path)


def _in_defaults(location: Location) -> Location:
    return ("agents", "defaults", *location[3:]) if location[:2] == ("agents", "list") else location
