"""Keys of other programs in the same file: set aside with one notice; misplaced keys of ours are problems."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from memoryd.config.agents import AgentDefaultsSection, AgentSection
from memoryd.config.embedder import AgentMemorySection, EmbedderSection, LocalEmbedderSection, RemoteEmbedderSection
from memoryd.config.loading.included import INCLUDE
from memoryd.config.loading.key_names import dotted, own_keys
from memoryd.config.loading.raw import KeyPath, Raw, value_at
from memoryd.config.loading.wording import unknown_key
from memoryd.config.providers import NOT_AN_ENTRY, READ_PROVIDERS, ModelsSection, ProviderSection
from memoryd.config.root import Config
from memoryd.config.section import Section

TYPING_SLIP: Final = 0.8
"""A foreign name this like one of ours (difflib ratio) is taken for a slip."""

SILENT: Final = frozenset({"$schema"})
MISPLACED: Final[Mapping[KeyPath, str]] = {
    ("memorySearch",): "belongs under agents.defaults.memorySearch",
    ("memory", "search"): "belongs under agents.defaults.memorySearch",
}

EMBEDDER: Final[tuple[tuple[KeyPath, type[Section]], ...]] = (
    (("memory",), AgentMemorySection),
    (("memory", "embedder"), EmbedderSection),
    (("memory", "embedder", "local"), LocalEmbedderSection),
    (("memory", "embedder", "remote"), RemoteEmbedderSection),
)
"""Below an agent."""


@dataclass(slots=True)
class Sorted:
    """The file without foreign keys, the names of those, and the keys that stand in the wrong place."""

    ours: Raw
    foreign: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def notices(self) -> list[str]:
        """One line, or none."""
        return [f"ignored, not memoryd's: {', '.join(self.foreign)}"] if self.foreign else []


def set_foreign_aside(raw: Raw) -> Sorted:
    """Take the keys that are not ours out of the sections that memoryd shares with others; `raw` is changed."""
    result = Sorted(ours=raw)
    for location, wrong_place in MISPLACED.items():
        holder = value_at(raw, location[:-1])
        if isinstance(holder, dict) and holder.pop(str(location[-1]), None) is not None:
            result.problems.append(f"{dotted(location)}: {wrong_place}")
    _set_providers_aside(raw, result)
    for location, holder, section in list(_shared_places(raw)):
        _sort(location, holder, section, result)
    return result


def _set_providers_aside(raw: Raw, result: Sorted) -> None:
    """Take out what is no section of providers, and the providers that embed nothing for us: it cannot stop us."""
    _mark_included(raw)
    for location in (("models",), ("models", "providers")):
        holder = value_at(raw, location[:-1])
        if isinstance(holder, dict) and not isinstance(holder.get(location[-1], {}), dict):
            del holder[location[-1]]
            result.foreign.append(dotted(location))
    holder = value_at(raw, ("models", "providers"))
    providers = holder if isinstance(holder, dict) else {}
    for name in [name for name in providers if name not in READ_PROVIDERS]:
        del providers[name]
        result.foreign.append(dotted(("models", "providers", name)))


def _mark_included(raw: Raw) -> None:
    """Let providers that another file describes be told when one is used: an address may stand there."""
    models, holder = value_at(raw, ("models",)), value_at(raw, ("models", "providers"))
    providers = holder if isinstance(holder, dict) else {}
    if isinstance(models, dict) and (INCLUDE in models or INCLUDE in providers):
        models.pop(INCLUDE, None)
        models["providers"] = dict.fromkeys(sorted(READ_PROVIDERS), NOT_AN_ENTRY)
    for name, entry in providers.items():
        if isinstance(entry, dict) and INCLUDE in entry:
            providers[name] = NOT_AN_ENTRY


def _sort(location: KeyPath, holder: Raw, section: type[Section], result: Sorted) -> None:
    known = own_keys(section)
    for key in [key for key in holder if key not in known and key != INCLUDE]:
        here = (*location, key)
        del holder[key]
        if difflib.get_close_matches(key.replace("_", "").lower(), [name.lower() for name in known], 1, TYPING_SLIP):
            result.problems.append(unknown_key(here, Config))
        elif key not in SILENT:
            result.foreign.append(dotted(here))


def _shared_places(raw: Raw) -> Iterator[tuple[KeyPath, Raw, type[Section]]]:
    places: list[tuple[KeyPath, type[Section]]] = [((), Config), (("agents", "defaults"), AgentDefaultsSection)]
    places += [(("agents", "defaults", *below), section) for below, section in EMBEDDER]
    entries = value_at(raw, ("agents", "list"))
    places += [(("agents", "list", n), AgentSection) for n in range(len(entries) if isinstance(entries, list) else 0)]
    places.append((("models",), ModelsSection))
    providers = value_at(raw, ("models", "providers"))
    places += [
        (("models", "providers", n), ProviderSection) for n in (providers if isinstance(providers, dict) else ())
    ]
    for location, section in places:
        holder = value_at(raw, location)
        if isinstance(holder, dict):
            yield location, holder, section
