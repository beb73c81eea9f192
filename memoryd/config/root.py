"""The whole configuration file, the agents that result from it, and its JSON Schema for editors."""

from pathlib import Path
from typing import Annotated, Any, Final

from memoryd.config.agents import DEFAULT_AGENT, Agent, AgentSection, AgentsSection, merged_search, overlay, set_apart
from memoryd.config.limits import HttpSection, LimitsSection, LogSection
from memoryd.config.memory import MemorySection
from memoryd.config.paths import expand
from memoryd.config.providers import ModelsSection
from memoryd.config.section import Effect, Section, SharedSection, describe_properties
from memoryd.config.team import TeamSection


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


DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """Return the schema of the file; keys of other programs are allowed where loading ignores them."""
    schema = Config.model_json_schema(by_alias=True)
    describe_properties(Section, {**schema["$defs"], Config.__name__: schema})
    return {"$schema": DIALECT, **schema, "title": "memoryd configuration"}
