"""`agents`: the defaults, the list, and the agents that result when the values of each are laid over the defaults.

Below `memory` of an agent stand RsClaw's keys: what a turn recalls by itself, and a way to name an embedder, which
counts while `memorySearch.provider` is not set.
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
from memoryd.config.section import AnchoredPath, Effect, Many, Section, SharedSection, Text
from memoryd.config.team import TeamSection
from memoryd.domain.access import folded_id, read_key
from memoryd.domain.embedding import LOCAL, NONE
from memoryd.domain.expressions import expression

MOST = 12
"""More memories than these help no answer."""


class RetrievalSection(Section):
    """How much of a prompt may be spent on what is recalled."""

    max_tokens: int = Field(default=1200, ge=50, le=100_000)
    """How many tokens (estimated) the bundle of a turn may have, what stays the same included."""


class AutoRecallSection(Section, alias_generator=None):
    """Whether a message is answered with what is recalled for it, and with how much."""

    auto_recall: bool = True
    """`false`: a turn gives no bundle; the agent recalls when it needs to."""
    recall_final_k: int = Field(default=5, ge=1, le=MOST)
    """How many memories and passages a turn recalls, 12 at most."""
    retrieval: RetrievalSection = RetrievalSection()
    """The size of the bundle of a turn."""


ROUTE = "/embeddings"


class LocalEmbedderSection(SharedSection, alias_generator=None):
    """A folder that holds one GGUF model."""

    model_dir: AnchoredPath | None = None
    """A folder with one `.gguf` file; RsClaw's name for `memorySearch.local.modelPath`."""


class RemoteEmbedderSection(SharedSection, alias_generator=None):
    """An OpenAI-compatible endpoint; `url` is the whole address of its route."""

    url: HttpAddress | None = None
    """RsClaw's name for `provider: "openai"` with `memorySearch.remote.baseUrl`, with `/embeddings` at the end."""
    model: Text | None = None
    """RsClaw's name for `memorySearch.model`."""
    query_instruction: Text | None = None
    """RsClaw's name for `memorySearch.queryInstruction`."""


class EmbedderSection(SharedSection):
    """One of the two; if both are given, the endpoint."""

    local: LocalEmbedderSection = LocalEmbedderSection()
    """A model on this machine; counts if `remote.url` is not set."""
    remote: RemoteEmbedderSection = RemoteEmbedderSection()
    """An endpoint of the kind that OpenAI has; wins over `local`."""

    @property
    def named_by(self) -> str:
        """The key that names the provider; empty if none does."""
        for place, value in (("remote.url", self.remote.url), ("local.model_dir", self.local.model_dir)):
            if value is not None:
                return f"agents.defaults.memory.embedder.{place}"
        return ""

    def as_search(self) -> MemorySearchSection:
        """Return what it means in the words of `memorySearch`, with only those fields set."""
        if self.remote.url is not None:
            return _search(
                provider="openai",
                remote=RemoteSection(base_url=self.remote.url.rstrip("/").removesuffix(ROUTE)),
                model=self.remote.model,
                query_instruction=self.remote.query_instruction,
            )
        if self.local.model_dir is not None:
            return _search(provider="local", local=LocalSection(model_path=self.local.model_dir))
        return MemorySearchSection()


class AgentMemorySection(AutoRecallSection, SharedSection, alias_generator=None):
    """What RsClaw keeps under `memory` of an agent."""

    embedder: EmbedderSection = EmbedderSection()
    """Who embeds, while `memorySearch.provider` is not set."""


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
    """What holds for every agent that does not say otherwise."""

    workspace: AnchoredPath = DEFAULT_WORKSPACE
    """The folder with `MEMORY.md` and `memory/`, relative to the folder of the configuration file; `MEMORYD_WORKSPACE`
    overrides it."""
    memory: AgentMemorySection = AgentMemorySection()
    """RsClaw's section: what a turn recalls by itself, and a way to name an embedder."""
    memory_search: MemorySearchSection = MemorySearchSection()
    """What is indexed, how it is embedded and how it is searched."""


class AgentSocketSection(Section):
    """A socket of one agent: who is given it alone can ask as nobody else, with `session_key` in no other session."""

    path: AnchoredPath
    """Where the socket lies, outside every workspace; relative to the folder of the configuration file."""
    session_key: Annotated[Text, AfterValidator(_session_key)] | None = None
    """The one session that whoever asks here is in; unset: each request names its own."""


Sockets = Many[AgentSocketSection]


class AgentSection(SharedSection):
    """One agent; ids are compared in lower case."""

    id: Annotated[str, AfterValidator(_agent_id)]
    """What requests and session keys call the agent: 1 to 64 letters, digits, - or _, in lower case."""
    name: Text | None = None
    """What people call the agent; unset: its `id`."""
    default: bool = False
    """`true`: the agent that is asked when a request names none; else the first is."""
    workspace: AnchoredPath | None = None
    """The agent's own folder with `MEMORY.md` and `memory/`; unset: that of the defaults."""
    sockets: Annotated[Sockets, Effect.RESTART] = ()
    """Sockets that are bound to this agent, for a sandbox that may ask as nobody else."""
    memory: AutoRecallSection = AutoRecallSection()
    """What differs from the defaults, key by key."""
    memory_search: MemorySearchSection = MemorySearchSection()
    """What differs from the defaults, key by key; `extraPaths`, `exclude` and `extraCollections` add up."""


class AgentsSection(Section):
    """Defaults and list; an empty list means the one agent `main`."""

    defaults: AgentDefaultsSection = AgentDefaultsSection()
    """What holds for an agent that does not say otherwise."""
    list: Many[AgentSection] = ()
    """The agents; without one there is one agent, `main`, with the defaults."""


def overlay(base: AnySection, top: AnySection) -> AnySection:
    """Lay the fields that `top` was given over `base`, section by section down to single values."""
    changes: dict[str, object] = {}
    for name in top.model_fields_set:
        below, above = getattr(base, name), getattr(top, name)
        both = isinstance(below, Section) and isinstance(above, Section)
        changes[name] = overlay(below, above) if both else above
    return base.model_copy(update=changes)


def merged_search(defaults: MemorySearchSection, own: MemorySearchSection) -> MemorySearchSection:
    """Return what holds for an agent: its own values win, lists that add up are joined without repeats.

    `extraPaths` and `qmd.extraCollections` add up as in OpenClaw; so does `exclude`, for an agent must not open
    what the defaults hide. The hybrid weights add up to 1, and the overlap is less than a chunk.
    """
    merged = overlay(defaults, own)
    hybrid = merged.query.hybrid.normalised()
    collections = defaults.qmd.extra_collections + own.qmd.extra_collections
    return merged.model_copy(
        update={
            "extra_paths": tuple(dict.fromkeys(defaults.extra_paths + own.extra_paths)),
            "exclude": tuple(dict.fromkeys(defaults.exclude + own.exclude)),
            "qmd": merged.qmd.model_copy(update={"extra_collections": tuple(dict.fromkeys(collections))}),
            "chunking": merged.chunking.fitted(),
            "query": merged.query.model_copy(update={"hybrid": hybrid}),
        }
    )


INDEX_NAME = "index.sqlite"
LEDGER_NAME = "ledger.sqlite"


class Agent(Struct, frozen=True):
    """One agent with everything that holds for it."""

    id: str
    name: str
    is_default: bool
    workspace: Path
    memory_search: MemorySearchSection
    memory: MemorySection
    turns: AutoRecallSection = field(default=AutoRecallSection())
    """What a turn recalls by itself."""
    team: TeamSection | None = None
    """The team that its workspace takes part in."""
    sockets: tuple[AgentSocketSection, ...] = ()
    provider_named_by: str = ""
    """The key that names the provider of embeddings; empty if none does."""
    is_apart: bool = False
    """Whether an agent before it on the same workspace indexes otherwise, so that they cannot share an index."""
    has_own_ledger: bool = False
    """Whether it is apart, or was so once: what its ledger holds stays its own."""

    @property
    def index_path(self) -> Path:
        """Where its index lies; two agents on one workspace share it unless they index otherwise.

        With `{agentId}` in `store.path` they never do.
        """
        return self._path(is_own=self.is_apart)

    @property
    def ledger_path(self) -> Path:
        """Where its ledger lies: beside its index; agents whose indexes share a folder share it, in rows of their own.

        An index of another name than usual does not have the folder for itself, and its ledger is named after it.
        """
        index = self._path(is_own=self.has_own_ledger)
        name = LEDGER_NAME if index.name == INDEX_NAME else f"{index.stem}-{LEDGER_NAME}"
        return index.with_name(name)

    @property
    def former(self) -> "Agent":
        """The same before it came apart, or while it was: first of its workspace now, it shares again.

        What the ledger of that time withholds, if there is one, counts for good.
        """
        return replace(self, has_own_ledger=not self.has_own_ledger)

    @property
    def conversations_path(self) -> Path:
        """Where the index of its conversations lies, beside that of its notes; no other agent has any part in it."""
        return self.index_path.with_name(f"conversations-{self.id}.sqlite")

    @property
    def reads_transcripts(self) -> bool:
        """Whether its owner wants transcripts to be read: both keys must say so, or that for qmd where qmd is off."""
        search = self.memory_search
        is_asked = search.experimental.session_memory and "sessions" in search.sources
        return is_asked or (self.wants_sessions_without_qmd and {search.provider, search.fallback} <= {LOCAL, NONE})

    @property
    def wants_sessions_without_qmd(self) -> bool:
        """Whether `memory.qmd.sessions.enabled` alone asks for transcripts, and no qmd is there to have them.

        They are read for it where they are sent nowhere: qmd would have kept them on this machine.
        """
        is_said = self.memory.backend == "qmd" or "sources" in self.memory_search.model_fields_set
        return self.memory.qmd.sessions.enabled and not is_said

    @property
    def exports_transcripts(self) -> bool:
        """Whether its transcripts are exported for its qmd."""
        return self.memory.backend == "qmd" and self.memory.qmd.sessions.enabled

    @property
    def default_sources(self) -> tuple[Literal["memory", "sessions"], ...]:
        """What a question asks that does not say: transcripts that are for qmd are there to be found."""
        search = self.memory_search
        is_meant = self.exports_transcripts and "sources" not in search.model_fields_set
        is_meant = is_meant or (self.wants_sessions_without_qmd and self.reads_transcripts)
        return ("memory", "sessions") if is_meant else search.sources

    @property
    def takes_turns(self) -> bool:
        """Whether turns of its transcripts are written into its workspace."""
        qa = self.memory.qa
        return qa.enabled and qa.from_transcripts and not self.memory.read_only

    @property
    def indexing(self) -> MemorySearchSection:
        """What decides what is in its index and how it is searched.

        That is all but what each request may say for itself, and when and with what of the machine the work is done.
        """
        search, usual = self.memory_search, MemorySearchSection()
        asked = usual.query.model_dump(include={"max_results", "min_score", "deadline_ms", "fresh_ms"}, by_alias=False)
        runs = usual.local.model_dump(
            include={"threads", "gpu_layers", "idle_unload_minutes", "download"}, by_alias=False
        )
        return search.model_copy(
            update={
                "enabled": True,
                "sources": usual.sources,
                "experimental": usual.experimental,
                "qmd": usual.qmd,
                "local": search.local.model_copy(update=runs),
                "sync": usual.sync.model_copy(update={"paused": search.sync.paused}),
                "query": search.query.model_copy(update=asked),
                "store": search.store.model_copy(update={"path": None}),
            }
        )

    def _path(self, *, is_own: bool) -> Path:
        shared = self._shared_path()
        return shared.with_name(f"{shared.stem}-{self.id}{shared.suffix}") if is_own else shared

    def _shared_path(self) -> Path:
        template = self.memory_search.store.path
        if template is None:
            return workspace_state_dir(self.workspace) / INDEX_NAME
        path = expand(template.replace("{agentId}", self.id), self.workspace)
        return path.with_name(f"{path.stem}.memoryd{path.suffix}") if _is_openclaws(path, self.workspace) else path


def _is_openclaws(path: Path, workspace: Path) -> bool:
    """Tell whether OpenClaw itself keeps, or may yet make, an index at this path that its configuration names."""
    return path.is_relative_to(Path.home() / OPENCLAW_STATE) and not path.is_relative_to(workspace)


def set_apart(agents: Sequence[Agent]) -> Iterator[Agent]:
    """Set those agents apart that would find in a shared index what their own settings leave out.

    A ledger that was made for one once is never dropped.
    """
    first: dict[Path, Agent] = {}
    for agent in agents:
        before = first.setdefault(agent.index_path, agent)
        is_same = (
            before is agent
            or before.workspace != agent.workspace
            or (before.indexing == agent.indexing and before.team == agent.team)
        )
        own = replace(agent, is_apart=not is_same, has_own_ledger=True)
        # whatever stands in the way of looking at it, it is none
        yield own if not is_same or (before is not agent and os.path.isfile(own.ledger_path)) else agent  # noqa: PTH113
