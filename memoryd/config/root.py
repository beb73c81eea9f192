"""The complete configuration file, the resolved agents, the JSON Schema, and how a reload applies a changed key."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from memoryd.config.agents import (
    DEFAULT_AGENT,
    Agent,
    AgentSection,
    AgentsSection,
    merge_search,
    overlay,
    separate_agents,
)
from memoryd.config.limits import HttpSection, LimitsSection, LogSection
from memoryd.config.loading.keys import section_of_type
from memoryd.config.memory import MemorySection
from memoryd.config.paths import expand
from memoryd.config.providers import ModelsSection
from memoryd.config.section import Effect, Section, SharedSection, describe_properties
from memoryd.config.team import TeamSection
from memoryd.domain.expressions import expression


class Config(SharedSection):
    """The complete file."""

    memory: Annotated[MemorySection, Effect.EXCHANGE] = MemorySection()
    """Settings for all agents."""
    agents: Annotated[AgentsSection, Effect.EXCHANGE] = AgentsSection()
    """The agents with a memory."""
    models: Annotated[ModelsSection, Effect.EXCHANGE] = ModelsSection()
    """Keys and addresses of providers of models."""
    team: Annotated[TeamSection, Effect.EXCHANGE] = TeamSection()
    """A memory that several people share."""
    http: Annotated[HttpSection, Effect.RESTART] = HttpSection()
    """A port on loopback, off by default."""
    limits: LimitsSection = LimitsSection()
    """Bounds that the daemon does not exceed."""
    log: Annotated[LogSection, Effect.AT_ONCE] = LogSection()
    """The log of the daemon."""

    def resolved_agents(self) -> list[Agent]:
        """Return the agents in the order of the file; exactly one of them is the default.

        The default is the first entry with `default: true`, else the first entry. A relative workspace starts at the
        home folder; loading from a file has already made it absolute.
        """
        entries = self.agents.list or (AgentSection(id=DEFAULT_AGENT),)
        chosen = next((entry for entry in entries if entry.default), entries[0])
        return list(separate_agents([self._resolved(entry, is_default=entry is chosen) for entry in entries]))

    def _resolved(self, entry: AgentSection, *, is_default: bool) -> Agent:
        defaults, embedder = self.agents.defaults.memory_search, self.agents.defaults.memory.embedder
        is_named = "provider" in defaults.model_fields_set | entry.memory_search.model_fields_set
        if not is_named:
            defaults = overlay(embedder.as_search(), defaults)
        is_member = self.team.is_joined and (self.team.agent == entry.id or (self.team.agent is None and is_default))
        return Agent(
            id=entry.id,
            name=entry.name or entry.id,
            is_default=is_default,
            workspace=expand(entry.workspace or self.agents.defaults.workspace, Path.home()),
            memory_search=merge_search(defaults, entry.memory_search),
            memory=self.memory,
            turns=overlay(self.agents.defaults.memory, entry.memory),
            team=self.team if is_member else None,
            sockets=entry.sockets,
            provider_named_by="memorySearch.provider" if is_named else embedder.named_by,
        )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file; keys of other programs are allowed where loading ignores them."""
    schema = Config.model_json_schema(by_alias=True)
    describe_properties(Section, {**schema["$defs"], Config.__name__: schema})
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, **schema, "title": "memoryd configuration"}


AGENTS = "agents.list"


def changed_keys(old: Config, new: Config) -> list[str]:
    """Return the keys whose values differ, in the order of the models, such as `agents.list[work].workspace`.

    A key that is set in only one of the two differs even if its value is the default, because some keys mean something
    else when they are set. An added or removed agent is one key, and one more if it has sockets.
    """
    return list(dict.fromkeys(_below(old, new, "")))


def _below(old: Section, new: Section, prefix: str) -> Iterator[str]:
    for name, field in type(new).model_fields.items():
        key = f"{prefix}{field.alias or name}"
        changed = list(_of_values(getattr(old, name), getattr(new, name), key))
        was_set, is_set = (name in section.model_fields_set for section in (old, new))
        yield from changed or ([key] if was_set != is_set else [])


def _of_values(old: object, new: object, key: str) -> Iterator[str]:
    if isinstance(old, Section) and type(old) is type(new):
        yield from _below(old, new, f"{key}.")
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys([*old, *new]):
            if name in old and name in new:
                yield from _of_values(old[name], new[name], f"{key}.{name}")
            else:
                yield f"{key}.{name}"
    elif key == AGENTS and isinstance(old, tuple) and isinstance(new, tuple):
        yield from _of_agents(old, new)
    elif old != new:
        yield key


def _of_agents(old: Sequence[AgentSection], new: Sequence[AgentSection]) -> Iterator[str]:
    before, after = {agent.id: agent for agent in old}, {agent.id: agent for agent in new}
    for agent in dict.fromkeys([*before, *after]):
        key = f"{AGENTS}[{agent}]"
        if agent in before and agent in after:
            yield from _below(before[agent], after[agent], f"{key}.")
        else:
            yield key
            if (before | after)[agent].sockets:
                yield f"{key}.sockets"
    # the order matters: the first agent is the default if no entry has `default: true`
    both = before.keys() & after.keys()
    if [agent for agent in before if agent in both] != [agent for agent in after if agent in both]:
        yield AGENTS


def _declared(section: type[Section], prefix: str = "") -> Iterator[tuple[str, Effect]]:
    for name, field in section.model_fields.items():
        key = f"{prefix}{field.alias or name}"
        yield from ((key, mark) for mark in field.metadata if isinstance(mark, Effect))
        if below := section_of_type(field.annotation):
            yield from _declared(below, f"{key}.")


EFFECTS = dict(_declared(Config))
"""The effects declared in the models: each holds for its key and for all keys below that declare no other effect."""
_PLACE = expression(r"\[[^]]*\]")


def effect_of(key: str) -> Effect:
    """Return the effect of a key from `changed_keys`; for a section, the strongest effect of the keys in it."""
    plain = _PLACE.sub("", key)
    if above := [name for name in EFFECTS if _is_within(plain, name)]:
        return EFFECTS[max(above, key=len)]
    inner = {effect for name, effect in EFFECTS.items() if _is_within(name, plain)}
    return next((effect for effect in reversed(Effect) if effect in inner), Effect.RESTART)


def keys_with_effect(keys: Iterable[str], effect: Effect) -> list[str]:
    """Return the keys that have this effect."""
    return [key for key in keys if effect_of(key) is effect]


def _is_within(key: str, section: str) -> bool:
    return key == section or key.startswith(f"{section}.")
