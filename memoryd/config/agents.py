"""`agents`: the defaults, the list, and how an agent's own values are laid over the defaults."""

import re
from typing import Annotated, Final, TypeVar

from pydantic import AfterValidator, Field

from memoryd.config.auto_recall import AutoRecallSection
from memoryd.config.embedder import AgentMemorySection
from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.section import Section, SharedSection, Text
from memoryd.domain.access import folded_id, read_key

DEFAULT_AGENT: Final = "main"
DEFAULT_WORKSPACE: Final = "~/.openclaw/workspace"
AGENT_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")

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

    workspace: Text = Field(
        default=DEFAULT_WORKSPACE,
        description="The folder with `MEMORY.md` and `memory/`, relative to the folder of the configuration file; "
        "`MEMORYD_WORKSPACE` overrides it.",
    )
    memory: AgentMemorySection = Field(
        default=AgentMemorySection(),
        description="RsClaw's section: what a turn recalls by itself, and a way to name an embedder.",
    )
    memory_search: MemorySearchSection = Field(
        default=MemorySearchSection(), description="What is indexed, how it is embedded and how it is searched."
    )


class AgentSocketSection(Section):
    """A socket of one agent: who is given it alone can ask as nobody else, with `session_key` in no other session."""

    path: Text = Field(
        description="Where the socket lies, outside every workspace; relative to the folder of the configuration file."
    )
    session_key: Annotated[Text, AfterValidator(_session_key)] | None = Field(
        default=None, description="The one session that whoever asks here is in; unset: each request names its own."
    )


Sockets = Annotated[tuple[AgentSocketSection, ...], Field(strict=False)]


class AgentSection(SharedSection):
    """One agent; ids are compared in lower case."""

    id: Annotated[str, AfterValidator(_agent_id)] = Field(
        description="What requests and session keys call the agent: 1 to 64 letters, digits, - or _, in lower case."
    )
    name: Text | None = Field(default=None, description="What people call the agent; unset: its `id`.")
    default: bool = Field(
        default=False, description="`true`: the agent that is asked when a request names none; else the first is."
    )
    workspace: Text | None = Field(
        default=None, description="The agent's own folder with `MEMORY.md` and `memory/`; unset: that of the defaults."
    )
    sockets: Sockets = Field(
        default=(), description="Sockets that are bound to this agent, for a sandbox that may ask as nobody else."
    )
    memory: AutoRecallSection = Field(
        default=AutoRecallSection(), description="What differs from the defaults, key by key."
    )
    memory_search: MemorySearchSection = Field(
        default=MemorySearchSection(),
        description="What differs from the defaults, key by key; `extraPaths`, `exclude` and `extraCollections` add "
        "up.",
    )


class AgentsSection(Section):
    """Defaults and list; an empty list means the one agent `main`."""

    defaults: AgentDefaultsSection = Field(
        default=AgentDefaultsSection(), description="What holds for an agent that does not say otherwise."
    )
    list: Annotated[tuple[AgentSection, ...], Field(strict=False)] = Field(
        default=(), description="The agents; without one there is one agent, `main`, with the defaults."
    )


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
