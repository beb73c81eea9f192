"""The whole configuration file, the agents that result from it, its JSON Schema, and what a changed key takes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from memoryd.config.agents import DEFAULT_AGENT, Agent, AgentSection, AgentsSection, merged_search, overlay, set_apart
from memoryd.config.limits import HttpSection, LimitsSection, LogSection
from memoryd.config.loading.keys import section_of_type
from memoryd.config.memory import MemorySection
from memoryd.config.paths import expand
from memoryd.config.providers import ModelsSection
from memoryd.config.section import Effect, Section, SharedSection, describe_properties
from memoryd.config.team import TeamSection
from memoryd.domain.expressions import expression


class Config(SharedSection):
    """The whole file."""

    memory: Annotated[MemorySection, Effect.EXCHANGE] = MemorySection()
    """What holds for all agents."""
    agents: Annotated[AgentsSection, Effect.EXCHANGE] = AgentsSection()
    """Whose memories there are."""
    models: Annotated[ModelsSection, Effect.EXCHANGE] = ModelsSection()
    """Keys and addresses of providers of models."""
    team: Annotated[TeamSection, Effect.EXCHANGE] = TeamSection()
    """A memory that several people share."""
    http: Annotated[HttpSection, Effect.RESTART] = HttpSection()
    """A port on loopback, off unless you want it."""
    limits: LimitsSection = LimitsSection()
    """What the daemon refuses to exceed."""
    log: Annotated[LogSection, Effect.AT_ONCE] = LogSection()
    """What the daemon tells."""

    def resolved_agents(self) -> list[Agent]:
        """Return the agents in the order of the file, exactly one of them the default.

        The default is the first that says so, else the first. A relative workspace starts at the home folder;
        loading from a file has made it absolute before.
        """
        entries = self.agents.list or (AgentSection(id=DEFAULT_AGENT),)
        chosen = next((entry for entry in entries if entry.default), entries[0])
        return list(set_apart([self._resolved(entry, is_default=entry is chosen) for entry in entries]))

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
            memory_search=merged_search(defaults, entry.memory_search),
            memory=self.memory,
            turns=overlay(self.agents.defaults.memory, entry.memory),
            team=self.team if is_member else None,
            sockets=entry.sockets,
            provider_named_by="memorySearch.provider" if is_named else embedder.named_by,
        )


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """Return the schema of the file; keys of other programs are allowed where loading ignores them."""
    schema = Config.model_json_schema(by_alias=True)
    describe_properties(Section, {**schema["$defs"], Config.__name__: schema})
    return {"$schema": DIALECT, **schema, "title": "memoryd configuration"}


AGENTS = "agents.list"


def changed_keys(old: Config, new: Config) -> list[str]:
    """Return the keys whose values differ, in the order of the models, such as `agents.list[work].workspace`.

    A key that is given now, or is not any more, differs though its value is the default: some keys mean something else
    where they are given. An agent that came or went is one key, with another one for its sockets.
    """
    return list(dict.fromkeys(_below(old, new, "")))


def _below(old: Section, new: Section, prefix: str) -> Iterator[str]:
    for name, field in type(new).model_fields.items():
        key = f"{prefix}{field.alias or name}"
        found = list(_of_values(getattr(old, name), getattr(new, name), key))
        is_given = [name in section.model_fields_set for section in (old, new)]
        yield from found or ([key] if is_given[0] != is_given[1] else [])


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
    # the first one is the default, if none says that it is
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
"""What the fields say: the effect of a key, and of all below it that says nothing else."""
_PLACE = expression(r"\[[^]]*\]")


def effect_of(key: str) -> Effect:
    """Return what a key takes that `changed_keys` names; of a whole section the strongest of what is in it."""
    plain = _PLACE.sub("", key)
    if above := [name for name in EFFECTS if _is_within(plain, name)]:
        return EFFECTS[max(above, key=len)]
    inner = {effect for name, effect in EFFECTS.items() if _is_within(name, plain)}
    return next((effect for effect in reversed(Effect) if effect in inner), Effect.RESTART)


def of_effect(keys: Iterable[str], effect: Effect) -> list[str]:
    """Return those of the keys that take this."""
    return [key for key in keys if effect_of(key) is effect]


def _is_within(key: str, section: str) -> bool:
    return key == section or key.startswith(f"{section}.")
