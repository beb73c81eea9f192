"""`agents`: the defaults, the list, and the agents that result when each entry is merged over the defaults.

The section `memory` of an agent has RsClaw's keys: what a turn recalls by itself, and another way to name an embedder,
used while `memorySearch.provider` is not set.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace
from pydantic import AfterValidator, Field

from memoryd.config.memory import MemorySection
from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.paths import OPENCLAW_STATE, expand, workspace_state_dir
from memoryd.config.providers import HttpAddress, LocalSection, RemoteSection
from memoryd.config.section import AnchoredPath, Effect, Section, SharedSection, Text, TupleOf
from memoryd.config.team import TeamSection
from memoryd.domain.access import folded_id, read_key
from memoryd.domain.embedding import LOCAL, NONE
from memoryd.domain.expressions import expression

RECALLED_MAX = 12
"""Upper bound of recalled memories; more do not improve an answer."""


class RetrievalSection(Section):
    """The part of a prompt that recalled memories may take."""

    max_tokens: int = Field(default=1200, ge=50, le=100_000)
    """The largest bundle of a turn, in tokens (estimated), including the part that is the same in every turn."""


class AutoRecallSection(Section, alias_generator=None):
    """Whether each turn recalls memories for its message, and how many."""

    auto_recall: bool = True
    """`false`: a turn gives no bundle; the agent recalls when it needs to."""
    recall_final_k: int = Field(default=5, ge=1, le=RECALLED_MAX)
    """How many memories and passages a turn recalls, 12 at most."""
    retrieval: RetrievalSection = RetrievalSection()
    """The size of the bundle of a turn."""


class LocalEmbedderSection(SharedSection, alias_generator=None):
    """A folder with one GGUF model."""

    model_dir: AnchoredPath | None = None
    """A folder with one `.gguf` file; RsClaw's name for `memorySearch.local.modelPath`."""


class RemoteEmbedderSection(SharedSection, alias_generator=None):
    """An OpenAI-compatible endpoint; `url` is the complete address of its embeddings route."""

    url: HttpAddress | None = None
    """RsClaw's name for `provider: "openai"` with `memorySearch.remote.baseUrl`, with `/embeddings` at the end."""
    model: Text | None = None
    """RsClaw's name for `memorySearch.model`."""
    query_instruction: Text | None = None
    """RsClaw's name for `memorySearch.queryInstruction`."""


class EmbedderSection(SharedSection):
    """A local model or an endpoint; the endpoint wins if both are set."""

    local: LocalEmbedderSection = LocalEmbedderSection()
    """A model on this machine; used if `remote.url` is not set."""
    remote: RemoteEmbedderSection = RemoteEmbedderSection()
    """An OpenAI-compatible endpoint; wins over `local`."""

    @property
    def named_by(self) -> str:
        """The key that names the provider; empty if no key does."""
        for key, value in (("remote.url", self.remote.url), ("local.model_dir", self.local.model_dir)):
            if value is not None:
                return f"agents.defaults.memory.embedder.{key}"
        return ""

    def as_search(self) -> MemorySearchSection:
        """Return the equivalent `memorySearch` section, with only those fields set."""
        if self.remote.url is not None:
            return _search(
                provider="openai",
                remote=RemoteSection(base_url=self.remote.url.rstrip("/").removesuffix("/embeddings")),
                model=self.remote.model,
                query_instruction=self.remote.query_instruction,
            )
        if self.local.model_dir is not None:
            return _search(provider="local", local=LocalSection(model_path=self.local.model_dir))
        return MemorySearchSection()


class AgentMemorySection(AutoRecallSection, SharedSection, alias_generator=None):
    """RsClaw's keys under `memory` of an agent."""

    embedder: EmbedderSection = EmbedderSection()
    """The embedder to use while `memorySearch.provider` is not set."""


def _search(**values: object) -> MemorySearchSection:
    return MemorySearchSection.model_validate({name: value for name, value in values.items() if value is not None})


DEFAULT_AGENT = "main"
DEFAULT_WORKSPACE = "~/.openclaw/workspace"
AGENT_ID = expression(r"[a-z0-9][a-z0-9_-]{0,63}")

AnySection = TypeVar("AnySection", bound=Section)


def _agent_id(text: str) -> str:
    lowered = folded_id(text)
    if not AGENT_ID.fullmatch(lowered):
        raise ValueError("must be 1 to 64 letters, digits, - or _, starting with a letter or digit")
    return lowered


def _session_key(text: str) -> str:
    if not read_key(text).is_understood:
        raise ValueError("must be a session key such as agent:main:main, and not of a sub-agent")
    return text


class AgentDefaultsSection(SharedSection):
    """Default values for all agents."""

    workspace: AnchoredPath = DEFAULT_WORKSPACE
    """The folder with `MEMORY.md` and `memory/`, relative to the folder of the configuration file; `MEMORYD_WORKSPACE`
    overrides it."""
    memory: AgentMemorySection = AgentMemorySection()
    """RsClaw's section: what a turn recalls by itself, and another way to name an embedder."""
    memory_search: MemorySearchSection = MemorySearchSection()
    """What is indexed, how it is embedded and how it is searched."""


class AgentSocketSection(Section):
    """A socket of one agent: its clients can ask only as this agent, and with `session_key` only in this session."""

    path: AnchoredPath
    """The path of the socket, outside every workspace; relative to the folder of the configuration file."""
    session_key: Annotated[Text, AfterValidator(_session_key)] | None = None
    """The session of all requests on this socket; unset: each request names its own."""


class AgentSection(SharedSection):
    """One agent; ids are compared in lower case."""

    id: Annotated[str, AfterValidator(_agent_id)]
    """The id of the agent in requests and session keys: 1 to 64 letters, digits, - or _, in lower case."""
    name: Text | None = None
    """The name of the agent for people; unset: its `id`."""
    default: bool = False
    """`true`: the agent for requests that name no agent; if no entry is the default, the first one is."""
    workspace: AnchoredPath | None = None
    """The agent's own folder with `MEMORY.md` and `memory/`; unset: `agents.defaults.workspace`."""
    sockets: Annotated[TupleOf[AgentSocketSection], Effect.RESTART] = ()
    """Sockets that are bound to this agent, for a sandbox that must not ask as another agent."""
    memory: AutoRecallSection = AutoRecallSection()
    """Values that differ from the defaults, key by key."""
    memory_search: MemorySearchSection = MemorySearchSection()
    """Values that differ from the defaults, key by key; `extraPaths`, `exclude` and `extraCollections` add up."""


class AgentsSection(Section):
    """The defaults and the list of agents; an empty list means one agent, `main`."""

    defaults: AgentDefaultsSection = AgentDefaultsSection()
    """Default values for all agents."""
    list: TupleOf[AgentSection] = ()
    """The agents; empty: one agent, `main`, with the defaults."""


def overlay(base: AnySection, top: AnySection) -> AnySection:
    """Return `base` with the fields that are set in `top`, merged section by section down to single values."""
    changes: dict[str, object] = {}
    for name in top.model_fields_set:
        below, above = getattr(base, name), getattr(top, name)
        are_sections = isinstance(below, Section) and isinstance(above, Section)
        changes[name] = overlay(below, above) if are_sections else above
    return base.model_copy(update=changes)


def merge_search(defaults: MemorySearchSection, own: MemorySearchSection) -> MemorySearchSection:
    """Return the section of an agent: its own values win, and lists that add up are joined without duplicates.

    `extraPaths` and `qmd.extraCollections` add up as in OpenClaw. `exclude` adds up, too, because an agent must not
    read files that the defaults hide. The hybrid weights add up to 1, and the overlap is less than a chunk.
    """
    merged = overlay(defaults, own)
    hybrid = merged.query.hybrid.with_normalised_weights()
    collections = defaults.qmd.extra_collections + own.qmd.extra_collections
    return merged.model_copy(
        update={
            "extra_paths": tuple(dict.fromkeys(defaults.extra_paths + own.extra_paths)),
            "exclude": tuple(dict.fromkeys(defaults.exclude + own.exclude)),
            "qmd": merged.qmd.model_copy(update={"extra_collections": tuple(dict.fromkeys(collections))}),
            "chunking": merged.chunking.with_valid_overlap(),
            "query": merged.query.model_copy(update={"hybrid": hybrid}),
        }
    )


INDEX_NAME = "index.sqlite"
LEDGER_NAME = "ledger.sqlite"


class Agent(Struct, frozen=True):
    """One agent with its resolved settings."""

    id: str
    name: str
    is_default: bool
    workspace: Path
    memory_search: MemorySearchSection
    memory: MemorySection
    turns: AutoRecallSection = field(default=AutoRecallSection())
    """The settings for what a turn recalls by itself."""
    team: TeamSection | None = None
    """The team of the agent's workspace."""
    sockets: tuple[AgentSocketSection, ...] = ()
    provider_named_by: str = ""
    """The key that names the provider of embeddings; empty if no key does."""
    has_own_index: bool = False
    """True if an earlier agent on the same workspace has other index settings, so that they cannot share an index."""
    has_own_ledger: bool = False
    """True if the agent has, or once had, an index of its own: its ledger stays separate."""

    @property
    def index_path(self) -> Path:
        """The path of the index. Agents on one workspace with the same index settings share it.

        With `{agentId}` in `store.path` each agent has its own.
        """
        return self._path(is_own=self.has_own_index)

    @property
    def ledger_path(self) -> Path:
        """The path of the ledger, beside the index. Agents with indexes in one folder share it, with separate rows.

        If the index has not the default name, other files may be in the folder; the ledger is then named after it.
        """
        index = self._path(is_own=self.has_own_ledger)
        name = LEDGER_NAME if index.name == INDEX_NAME else f"{index.stem}-{LEDGER_NAME}"
        return index.with_name(name)

    @property
    def with_other_ledger(self) -> "Agent":
        """The same agent with its other possible ledger path: as before, or while, it had an index of its own.

        An agent that is now the first of its workspace shares the ledger again. What the former ledger withholds, if it
        exists, stays withheld.
        """
        return replace(self, has_own_ledger=not self.has_own_ledger)

    @property
    def conversations_path(self) -> Path:
        """The path of the index of its conversations, beside the index of its notes; never shared."""
        return self.index_path.with_name(f"conversations-{self.id}.sqlite")

    @property
    def reads_transcripts(self) -> bool:
        """True if transcripts are indexed: two keys ask for it, or `memory.qmd.sessions.enabled` where qmd is off."""
        search = self.memory_search
        is_requested = search.experimental.session_memory and "sessions" in search.sources
        is_local = {search.provider, search.fallback} <= {LOCAL, NONE}
        return is_requested or (self.wants_sessions_without_qmd and is_local)

    @property
    def wants_sessions_without_qmd(self) -> bool:
        """True if only `memory.qmd.sessions.enabled` asks for transcripts, and qmd is not the backend.

        They are then indexed only if embeddings stay on this machine, as they would with qmd.
        """
        search, memory = self.memory_search, self.memory
        return memory.qmd.sessions.enabled and memory.backend != "qmd" and "sources" not in search.model_fields_set

    @property
    def exports_transcripts(self) -> bool:
        """True if transcripts are exported for qmd."""
        return self.memory.backend == "qmd" and self.memory.qmd.sessions.enabled

    @property
    def default_sources(self) -> tuple[Literal["memory", "sessions"], ...]:
        """The sources of a query that names none; transcripts that are meant for qmd are included."""
        search = self.memory_search
        includes_sessions = (self.exports_transcripts and "sources" not in search.model_fields_set) or (
            self.wants_sessions_without_qmd and self.reads_transcripts
        )
        return ("memory", "sessions") if includes_sessions else search.sources

    @property
    def takes_turns(self) -> bool:
        """True if turns of its transcripts are written into its workspace."""
        qa = self.memory.qa
        return qa.enabled and qa.from_transcripts and not self.memory.read_only

    @property
    def indexing(self) -> MemorySearchSection:
        """The settings that decide what is in the index and how it is searched; all others have their defaults.

        Excluded are settings that a request can override, and settings for when, and with which resources, work runs.
        """
        search, default = self.memory_search, MemorySearchSection()
        per_request = {"max_results", "min_score", "deadline_ms", "fresh_ms"}
        resources = {"threads", "gpu_layers", "idle_unload_minutes", "download"}
        return search.model_copy(
            update={
                "enabled": True,
                "sources": default.sources,
                "experimental": default.experimental,
                "qmd": default.qmd,
                "local": search.local.model_copy(update=default.local.model_dump(include=resources, by_alias=False)),
                "sync": default.sync.model_copy(update={"paused": search.sync.paused}),
                "query": search.query.model_copy(update=default.query.model_dump(include=per_request, by_alias=False)),
                "store": search.store.model_copy(update={"path": None}),
            }
        )

    def _path(self, *, is_own: bool) -> Path:
        template = self.memory_search.store.path
        if template is None:
            path = workspace_state_dir(self.workspace) / INDEX_NAME
        else:
            path = expand(template.replace("{agentId}", self.id), self.workspace)
            # OpenClaw itself may keep an index at the path that its configuration names
            if path.is_relative_to(Path.home() / OPENCLAW_STATE) and not path.is_relative_to(self.workspace):
                path = path.with_name(f"{path.stem}.memoryd{path.suffix}")
        return path.with_name(f"{path.stem}-{self.id}{path.suffix}") if is_own else path


def separate_agents(agents: Sequence[Agent]) -> Iterator[Agent]:
    """Yield the agents; give an agent its own index if a shared index would hold what its settings exclude.

    A ledger that was once made for one agent alone stays in use.
    """
    firsts: dict[Path, Agent] = {}
    for agent in agents:
        first = firsts.setdefault(agent.index_path, agent)
        can_share = (
            first is agent
            or first.workspace != agent.workspace
            or (first.indexing == agent.indexing and first.team == agent.team)
        )
        own = replace(agent, has_own_index=not can_share, has_own_ledger=True)
        # os.path.isfile: a ledger that cannot be examined, for whatever reason, counts as missing
        is_own = not can_share or (first is not agent and os.path.isfile(own.ledger_path))  # noqa: PTH113
        yield own if is_own else agent
