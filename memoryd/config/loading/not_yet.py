"""What an owner of an existing file should know: keys that have no effect, for good, yet, or with the provider that is
named, and what differs."""

from collections.abc import Iterator, Mapping
from typing import Final

from pydantic.alias_generators import to_camel

from memoryd.config.loading.key_names import dotted
from memoryd.config.loading.raw import KeyPath, value_at
from memoryd.config.root import Config
from memoryd.domain.embedding import AUTO, INPUT_TYPES, REMOTE

NEVER: Final[Mapping[str, str]] = {
    "memory.qmd.searchTool": "qmd is asked directly, not through mcporter",
    "memory.qmd.mcporter": "qmd is asked directly, not through mcporter",
    "memorySearch.store.fts.tokenizer": "one tokenizer serves all languages",
}
NOT_YET: Final[Mapping[str, str]] = {}
"""`memorySearch.*` stands for the defaults and for every agent of the list."""
NOT_WITH_QMD: Final[Mapping[str, str]] = {
    "memorySearch.query.hybrid": "qmd ranks by itself, and this holds while the builtin index answers for it",
}
SAME_AS_USUAL: Final[Mapping[str, tuple[object, str]]] = {
    "memory.qmd.update.startup": ("immediate", "qmd is refreshed at the start anyway, unless onBoot is false"),
}
"""Values that mean what holds without them."""
INPUT_TYPE_KEYS: Final = ("input_type", "query_input_type", "document_input_type")


def without_effect(config: Config) -> list[str]:
    """Return one notice for each key that the file sets to something this version does not do."""
    present = config.model_dump(mode="json")
    defaults = Config().model_dump(mode="json")
    with_qmd = NOT_WITH_QMD if config.memory.backend == "qmd" else {}
    tables = (("has no effect", NEVER), ("has no effect yet", NOT_YET), ("has no effect on answers of qmd", with_qmd))
    notices = [
        f"{dotted(location)} {what}: {reason}"
        for what, keys in tables
        for key, reason in keys.items()
        for location in _locations(key, config)
        if value_at(present, location) != value_at(defaults, _in_defaults(location))
    ]
    notices += [
        f'{key} has no effect as "{value}": {reason}'
        for key, (value, reason) in SAME_AS_USUAL.items()
        if value_at(present, tuple(key.split("."))) == value
    ]
    return [*notices, *dict.fromkeys(_input_types(config))]


def differences(config: Config) -> list[str]:
    """Return one notice for each value that means something else than in OpenClaw, and what is meant there."""
    scope = config.memory.qmd.scope
    is_given = config.memory.backend == "qmd" and "scope" in config.memory.qmd.model_fields_set
    if not is_given or "default" in scope.model_fields_set:
        return []
    return [
        "memory.qmd.scope.default is not given: who fits no rule is denied, where OpenClaw allows; "
        'to allow, set it to "allow"'
    ]


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


def _locations(key: str, config: Config) -> Iterator[KeyPath]:
    path = tuple(key.split("."))
    if path[0] != "memorySearch":
        yield path
        return
    yield ("agents", "defaults", *path)
    for position in range(len(config.agents.list)):
        yield ("agents", "list", position, *path)


def _in_defaults(location: KeyPath) -> KeyPath:
    return ("agents", "defaults", *location[3:]) if location[:2] == ("agents", "list") else location
