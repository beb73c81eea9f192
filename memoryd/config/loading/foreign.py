"""Keys of other programs in the same file, and keys without effect: both give a notice.

A key of memoryd in the wrong section is a problem, not a foreign key.
"""

import difflib
from collections.abc import Iterator, Mapping, Set

from msgspec import Struct
from pydantic.alias_generators import to_camel

from memoryd.config.loading.keys import NEAR, dotted, is_map, nearest, own_keys, section_of_type, unknown_key
from memoryd.config.loading.raw import INCLUDE, KeyPath, Raw, agents_in, object_at, value_at
from memoryd.config.providers import NOT_AN_ENTRY, READ_PROVIDERS
from memoryd.config.root import Config
from memoryd.config.section import OpenClawSection, Section, SharedSection
from memoryd.domain.embedding import AUTO, BY_KEY, LOCAL, NONE, PROVIDERS, REMOTE
from memoryd.domain.expressions import expression

HIDING = expression(r"(?i).*(?:ignor|exclu|hid|priva|secret|deny|block|skip|scope|forb|readonly)")
"""Keys that likely hide data: if memoryd ignored one, it would show what the key hides."""
TYPING_SLIP = 0.8
"""Least similarity (difflib ratio) of a foreign key to a key of memoryd to be reported as a typing error."""

SILENT = frozenset({"$schema"})
MISPLACED: Mapping[KeyPath, str] = {
    ("memorySearch",): "belongs under agents.defaults.memorySearch",
    ("workspace",): "belongs under agents.defaults.workspace",
    ("memory", "search"): "agents.defaults.memorySearch says the same: leave one of them out",
    ("agents", "entries"): "agents.list says the same: leave one of them out",
}
"""The last two are OpenClaw's newer layout: it is read if the older place is empty, and is otherwise a problem."""

PROVIDER_ENTRIES = ("models", "providers")
UNSUPPORTED_PROVIDERS = frozenset({"amazon-bedrock", "bedrock", "deepinfra", "github-copilot", "lmstudio"})
"""Names of OpenClaw's providers that memoryd cannot use and that are never taken for a misspelt provider of memoryd."""
_BACKENDS = frozenset({"builtin", "qmd"})
_SOURCES = frozenset({"memory", "sessions"})
COMPATIBLE = "openai-compatible"
"""OpenClaw's name for an endpoint with OpenAI's protocol; it never gets OpenAI's keys."""
PROVIDER_OF_API: Mapping[str, str] = {
    "ollama": "ollama",
    "openai-completions": "openai",
    "openai-responses": "openai",
    "google-generative-ai": "gemini",
}
"""The `api` of an entry of `models.providers` → memoryd's provider with the same protocol."""


RETIRED: Mapping[str, str] = {
    "memory.evolution.strength": "age and use count as was measured to be best",
    "memory.evolution.promotion.working_access": "a peripheral memory works again from three touches on",
    "memory.evolution.promotion.working_relevance": "a peripheral memory works again from a composite of 0.4 on",
    "limits.maxQueryBytes": "a question has 4,096 bytes at most",
    "limits.maxQueryTokens": "of a question 64 words are looked for at most",
    "limits.maxBodyBytes": "the body of a request has 1 MiB at most",
    "limits.maxConnectionsPerProcess": "one client process has three quarters of limits.maxConnections at most",
}
"""Keys of earlier versions, and the fixed behaviour that replaced each."""


class SeparatedKeys(Struct):
    """The file without foreign keys, the names of the foreign keys, and problems of keys in the wrong place."""

    ours: Raw
    foreign: list[str] = []
    problems: list[str] = []
    ineffective: list[str] = []
    """Notices for keys and values of another program or an earlier version that have no effect."""

    @property
    def notices(self) -> list[str]:
        """One line for all foreign keys, and one for each key without effect."""
        return [*([f"ignored, not memoryd's: {', '.join(self.foreign)}"] if self.foreign else []), *self.ineffective]


def separate_foreign_keys(raw: Raw) -> SeparatedKeys:
    """Remove foreign keys from the sections that memoryd shares with other programs; changes `raw` in place."""
    result = SeparatedKeys(ours=raw)
    _read_newer_layout(raw)
    for location, wrong_place in MISPLACED.items():
        if object_at(raw, location[:-1]).pop(str(location[-1]), None) is not None:
            result.problems.append(f"{dotted(location)}: {wrong_place}")
    for key, behaviour in RETIRED.items():
        *above, name = key.split(".")
        if object_at(raw, tuple(above)).pop(name, None) is not None:
            result.ineffective.append(f"{key} has no effect any more: {behaviour}")
    _read_as_ours(raw, result)
    _set_providers_aside(raw, result)
    _set_values_aside(raw, result)
    _separate(Config, (), raw, result)
    return result


def _read_newer_layout(raw: Raw) -> None:
    """Move `memory.search` and `agents.entries` (keyed by id) to their older places; an existing value there stays."""
    agents, memory = raw.get("agents"), raw.get("memory")
    if isinstance(memory, dict) and isinstance(memory.get("search"), dict):
        if agents is None:
            agents = raw["agents"] = {}
        defaults = agents.setdefault("defaults", {}) if isinstance(agents, dict) else None
        _move_search(memory, defaults)
    entries = agents.get("entries") if isinstance(agents, dict) else None
    if isinstance(agents, dict) and isinstance(entries, dict) and "list" not in agents and INCLUDE not in entries:
        agents["list"] = [
            {**entry, "id": name} if isinstance(entry, dict) else entry for name, entry in entries.items()
        ]
        del agents["entries"]
        for entry in agents["list"]:
            _move_search(value_at(entry, ("memory",)), entry)


def _move_search(memory: object, holder: object) -> None:
    if isinstance(memory, dict) and isinstance(holder, dict) and "memorySearch" not in holder and "search" in memory:
        holder["memorySearch"] = memory.pop("search")


def location_in_file(raw: Raw, location: KeyPath) -> KeyPath:
    """Return the location at which a file, which may have the newer layout, has or should have a key."""
    holder, entries = location[:2], value_at(raw, ("agents", "entries"))
    memory: KeyPath = ("memory",)
    rest = location[2:]
    if entries and isinstance(entries, dict) and holder == ("agents", "list") and value_at(raw, holder) is None:
        holder, rest = ("agents", "entries", list(entries)[int(location[2])]), location[3:]
        memory = (*holder, "memory")
    elif holder != ("agents", "defaults"):
        return location
    is_newer = value_at(raw, (*memory, "search")) is not None and value_at(raw, (*holder, "memorySearch")) is None
    if rest[:1] == ("memorySearch",) and is_newer:
        return (*memory, "search", *rest[1:])
    return holder if rest == ("id",) else (*holder, *rest)


def _read_as_ours(raw: Raw, result: SeparatedKeys) -> None:
    """Rewrite OpenClaw's newer spellings as memoryd's, and add a notice for features that memoryd lacks."""
    searches, taken = list(_searches(raw)), set[str]()
    named = {str(search.get(key)) for _, search in searches for key in ("provider", "fallback")}
    for location, search in searches:
        if search.pop(key := "rememberAcrossConversations", None) is True:
            result.ineffective.append(
                f'{dotted((*location, key))} has no effect: to search conversations, put "sessions" into '
                "memorySearch.sources and set experimental.sessionMemory: true"
            )
        if isinstance(paths := search.get("extraPaths"), list):
            search["extraPaths"] = list(map(_as_glob, paths))
        for key in ("provider", "fallback"):
            name = search.get(key)
            if not isinstance(name, str) or (ours := _our_provider_for(name, search, raw, named)) is None:
                continue
            search[key] = ours
            if ours != NONE:
                taken.add(name)
            if ours == NONE or name != COMPATIBLE:
                result.ineffective.append(_replaced_provider((*location, key), name, ours))
    for name in taken:
        object_at(raw, PROVIDER_ENTRIES).pop(name, None)


def _searches(raw: Raw) -> Iterator[tuple[KeyPath, Raw]]:
    for location, agent in agents_in(raw):
        if isinstance(search := agent.get("memorySearch"), dict):
            yield (*location, "memorySearch"), search


def _as_glob(path: object) -> object:
    """Return OpenClaw's `{ path, pattern }` as one path, the form that `extraPaths` takes; other values unchanged."""
    if not isinstance(path, dict) or not isinstance(folder := path.get("path"), str):
        return path
    pattern = path.get("pattern")
    return f"{folder.rstrip('/')}/{pattern}" if isinstance(pattern, str) and pattern else folder


def _our_provider_for(name: str, search: Raw, raw: Raw, named: Set[str]) -> str | None:
    """Return memoryd's provider for another program's name; `none` if there is none, None if nothing needs to change.

    The foreign entry is copied over memoryd's entry, so that its key goes only to its own address. It is not copied if
    the file already has an entry of memoryd's provider, or if another part of memoryd would use the copy.
    """
    if name == COMPATIBLE:
        defaults = value_at(raw, ("agents", "defaults", "memorySearch"))
        has_address = any(value_at(section, ("remote", "baseUrl")) for section in (search, defaults))
        return "openai" if has_address else NONE
    providers = object_at(raw, PROVIDER_ENTRIES)
    entry = providers.get(name)
    ours_are = {LOCAL, NONE, AUTO, *REMOTE}
    is_slip = bool(difflib.get_close_matches(name.strip().lower(), ours_are, 1, NEAR))
    if name in ours_are or (is_slip and not isinstance(entry, dict) and name not in UNSUPPORTED_PROVIDERS):
        return None
    ours = PROVIDER_OF_API.get(str(entry.get("api"))) if isinstance(entry, dict) else None
    if ours is None or not isinstance(entry, dict) or not entry.get("baseUrl"):
        return NONE
    copy = {key: entry[key] for key in ("baseUrl", "apiKey", "headers") if key in entry}
    names = PROVIDERS[ours].config_names
    present = [providers[entry_name] for entry_name in names if entry_name in providers]
    is_used = ours in named or (AUTO in named and ours in BY_KEY)
    if present != [copy] and (present or is_used or value_at(raw, ("memory", "llm", "provider")) == ours):
        return NONE
    providers[names[0]] = copy
    return ours


def _replaced_provider(location: KeyPath, name: str, ours: str) -> str:
    where = dotted(location)
    if ours != NONE:
        return f"{where}: models.providers.{name} is asked as {ours} is"
    if location[-1] == "fallback":
        return f'{where}: memoryd cannot ask "{name}", so that there is no fallback'
    choices = ", ".join((LOCAL, *REMOTE))
    return f'{where}: memoryd cannot ask "{name}", so that search is by words alone; it can ask {choices}'


def _set_providers_aside(raw: Raw, result: SeparatedKeys) -> None:
    """Remove a section of providers of a wrong type, and the providers that memoryd cannot use."""
    _mark_included(raw)
    for location in (PROVIDER_ENTRIES[:1], PROVIDER_ENTRIES):
        holder = object_at(raw, location[:-1])
        if not isinstance(holder.get(location[-1], {}), dict):
            del holder[location[-1]]
            result.foreign.append(dotted(location))
    providers = object_at(raw, PROVIDER_ENTRIES)
    for name in [name for name in providers if name not in READ_PROVIDERS]:
        del providers[name]
        result.foreign.append(dotted((*PROVIDER_ENTRIES, name)))


def _set_values_aside(raw: Raw, result: SeparatedKeys) -> None:
    """Remove backends and sources of other programs; a likely misspelling of a known name stays, to be a problem."""
    memory = object_at(raw, ("memory",))
    if _is_foreign(memory.get("backend"), _BACKENDS):
        result.ineffective.append(
            f'memory.backend: memoryd has no "{memory.pop("backend")}", so that its own index answers; '
            f"it has {', '.join(sorted(_BACKENDS))}"
        )
    for location, search in _searches(raw):
        sources = search.get("sources")
        foreign = [name for name in sources if _is_foreign(name, _SOURCES)] if isinstance(sources, list) else []
        if isinstance(sources, list) and foreign:
            result.ineffective += [
                f'{dotted((*location, "sources"))}: memoryd has no "{name}", so that it is not searched; '
                f"it has {', '.join(sorted(_SOURCES))}"
                for name in foreign
            ]
            search["sources"] = [name for name in sources if name not in foreign]
            if not search["sources"]:
                del search["sources"]


def _is_foreign(name: object, ours: Set[str]) -> bool:
    return isinstance(name, str) and not difflib.get_close_matches(name.strip().lower(), ours, 1)


def _mark_included(raw: Raw) -> None:
    """Replace providers that an included file describes, so that using one is an error.

    Included files are not read, and may name another address.
    """
    models, providers = object_at(raw, PROVIDER_ENTRIES[:1]), object_at(raw, PROVIDER_ENTRIES)
    if INCLUDE in models or INCLUDE in providers:
        models.pop(INCLUDE, None)
        models["providers"] = dict.fromkeys(sorted(READ_PROVIDERS), NOT_AN_ENTRY)
    for name, entry in providers.items():
        if isinstance(entry, dict) and INCLUDE in entry:
            providers[name] = NOT_AN_ENTRY


def _separate(section: type[Section], location: KeyPath, holder: object, result: SeparatedKeys) -> None:
    """Remove foreign keys from a section and all sections below; sections of memoryd alone keep them for validation."""
    if not isinstance(holder, dict):
        return
    if issubclass(section, (SharedSection, OpenClawSection)):
        _set_aside(section, location, holder, result)
    for key, kind in own_keys(section).items():
        below, value = section_of_type(kind), holder.get(key)
        if below is not None:
            for entry in _entries(value, is_map(kind)):
                _separate(below, (*location, key, *entry), value_at(value, entry), result)


def _entries(value: object, has_names: bool) -> list[KeyPath]:
    """Return the relative locations of the items of a list or map; an empty location for a single section."""
    if isinstance(value, list):
        return [(number,) for number in range(len(value))]
    return [(name,) for name in value] if has_names and isinstance(value, dict) else [()]


def _set_aside(section: type[Section], location: KeyPath, holder: Raw, result: SeparatedKeys) -> None:
    known = own_keys(section)
    for key in [key for key in holder if key not in known and key != INCLUDE]:
        here, is_memory = (*location, key), issubclass(section, OpenClawSection)
        del holder[key]
        if _is_likely_ours(key, section):
            result.problems.append(unknown_key(here, Config))
        elif is_memory:
            result.ineffective.append(f"{dotted(here)} has no effect: memoryd has no such key")
        elif key not in SILENT:
            result.foreign.append(dotted(here))


def _is_likely_ours(key: str, section: type[Section]) -> bool:
    """Return whether an unknown key is likely a misspelt key of memoryd, or a key that is meant to hide data."""
    plain = key.replace("_", "").lower()
    is_hiding, meant = bool(HIDING.match(plain)), nearest(key, section)
    if issubclass(section, OpenClawSection):
        return bool(meant) or is_hiding
    known = [name.lower() for name in own_keys(section)]
    # a section below has such a key: in the wrong place it would hide nothing
    return bool(difflib.get_close_matches(plain, known, 1, TYPING_SLIP)) or (is_hiding and bool(meant))


WITHOUT_EFFECT: Mapping[str, str] = {
    "memory.qmd.searchTool": "qmd is asked directly, not through mcporter",
    "memory.qmd.mcporter": "qmd is asked directly, not through mcporter",
    "memorySearch.store.vector.enabled": "memoryd compares vectors itself",
    "memorySearch.store.vector.extensionPath": "memoryd compares vectors itself, and loads no extension",
    "memorySearch.store.fts.tokenizer": "one tokenizer serves all languages",
}
"""Keys without effect, and why; `memorySearch.*` means the defaults and every agent of the list."""
NOT_WITH_QMD: Mapping[str, str] = {
    "memorySearch.query.hybrid": "qmd ranks by itself, and this holds while the builtin index answers for it",
}
VALUES_WITHOUT_EFFECT: Mapping[str, tuple[object, str]] = {
    "memory.qmd.update.startup": ("immediate", "qmd is refreshed at the start anyway, unless onBoot is false"),
}
"""Values without effect: key → value and reason."""
INPUT_TYPE_KEYS = ("input_type", "query_input_type", "document_input_type")


def no_effect_notices(config: Config) -> list[str]:
    """Return a notice for each key with a value that this version ignores."""
    present = config.model_dump(mode="json")
    defaults = Config().model_dump(mode="json")
    with_qmd = NOT_WITH_QMD if config.memory.backend == "qmd" else {}
    tables = (("has no effect", WITHOUT_EFFECT), ("has no effect on answers of qmd", with_qmd))
    notices = []
    for what, keys in tables:
        for key, reason in keys.items():
            for location in _locations(key, config):
                default = ("agents", "defaults", *location[3:]) if location[1] == "list" else location
                if value_at(present, location) != value_at(defaults, default):
                    notices.append(f"{dotted(location)} {what}: {reason}")
    notices += [
        f'{key} has no effect as "{value}": {reason}'
        for key, (value, reason) in VALUES_WITHOUT_EFFECT.items()
        if value_at(present, tuple(key.split("."))) == value
    ]
    return [*notices, *dict.fromkeys(_input_types(config))]


def openclaw_differences(config: Config) -> list[str]:
    """Return a notice for each value that means something else in OpenClaw."""
    return [*_denying_scope(config), *_weights_of_another_sum(config)]


def _denying_scope(config: Config) -> list[str]:
    scope = config.memory.qmd.scope
    is_used = config.memory.backend == "qmd" and "scope" in config.memory.qmd.model_fields_set
    if not is_used or "default" in scope.model_fields_set:
        return []
    return [
        "memory.qmd.scope.default is not given: who fits no rule is denied, where OpenClaw allows; "
        'to allow, set it to "allow"'
    ]


def _weights_of_another_sum(config: Config) -> Iterator[str]:
    """Yield a notice for each section with weights but without `fusion`, which decides what the weights mean."""
    defaults_name_fusion = "fusion" in config.agents.defaults.memory_search.query.hybrid.model_fields_set
    for location in _locations("memorySearch.query.hybrid", config):
        section = config.agents.list[int(location[2])] if location[1] == "list" else config.agents.defaults
        fields = section.memory_search.query.hybrid.model_fields_set
        if {"vector_weight", "text_weight"} & fields and "fusion" not in fields and not defaults_name_fusion:
            yield (
                f"{dotted(location)} weighs words and meaning, each measured against itself, where OpenClaw adds the "
                'raw scores: to have that, set its fusion to "weighted", else to "relative"'
            )


def _input_types(config: Config) -> Iterator[str]:
    """Yield a notice for each input type that is never sent; the provider of `auto` is not known here."""
    entries = config.agents.list
    for position, agent in enumerate(config.resolved_agents()):
        search = agent.memory_search
        provider = next((name for name in (search.provider, search.fallback) if name in PROVIDERS), search.provider)
        if search.provider == AUTO or (provider in PROVIDERS and PROVIDERS[provider].has_input_types):
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
