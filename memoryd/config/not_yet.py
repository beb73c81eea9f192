"""Keys that are accepted, so that an existing file loads, and have no effect: for good, in this version, or with the
provider that is named."""

from collections.abc import Iterator, Mapping
from typing import Final

from pydantic.alias_generators import to_camel

from memoryd.config.keys import dotted
from memoryd.config.models import Config
from memoryd.config.raw import Location, value_at
from memoryd.domain.provider_choice import AUTO, INPUT_TYPES, REMOTE

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
INPUT_TYPE_KEYS: Final = ("input_type", "query_input_type", "document_input_type")


def without_effect(config: Config) -> list[str]:
    """Return one notice for each key that the file sets to something this version does not do."""
    present = config.model_dump(mode="json")
    defaults = Config().model_dump(mode="json")
    notices = [
        f"{dotted(location)} {what}: {reason}"
        for what, keys in (("has no effect", NEVER), ("has no effect yet", NOT_YET))
        for key, reason in keys.items()
        for location in _locations(key, config)
        if value_at(present, location) != value_at(defaults, _in_defaults(location))
    ]
    return [*notices, *dict.fromkeys(_input_types(config))]


def _input_types(config: Config) -> Iterator[str]:
    """Name the input types that no request has a place for; whom `auto` finds is not known here."""
    entries = config.agents.list
    for position, agent in enumerate(config.resolved_agents()):
        search = agent.memory_search
        provider = next((name for name in (search.provider, search.fallback) if name in REMOTE), search.provider)
        if provider in INPUT_TYPES or search.provider == AUTO:
            continue
        own = entries[position].memory_search.model_fields_set if entries else frozenset()
        for name in INPUT_TYPE_KEYS:
            if getattr(search, name) is not None:
                where = ("agents", "list", position) if name in own else ("agents", "defaults")
                key = dotted((*where, "memorySearch", to_camel(name)))
                yield f"{key} has no effect with provider {provider}: its requests carry no input type"


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
