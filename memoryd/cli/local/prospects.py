"""Estimate of a first indexing for `memoryctl index --dry-run`: without a daemon, notes are read and chunked here."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from memoryd.cli.invocation import Invocation, unknown_agent
from memoryd.config.agents import Agent
from memoryd.config.loading.load import load
from memoryd.config.paths import openclaw_sessions
from memoryd.config.root import Config
from memoryd.domain.media import modality_of, token_estimate
from memoryd.domain.memories.entries import ChunkSettings
from memoryd.domain.text.tokens import estimate
from memoryd.embed.choice import EmbedderPlan, media_rules, plan_for
from memoryd.embed.remote.settings import RemoteSettings
from memoryd.files.roots import roots_and_rules
from memoryd.files.scanner import scan
from memoryd.index.reading import Reader, Reading, ReadStatus
from memoryd.models.store import ModelStore
from memoryd.sessions.transcripts.folders import find_transcripts


class SpokenProspect(TypedDict):
    """The conversations to be embedded; `files` and `bytes` count all transcripts, whether read or not."""

    files: int
    bytes: int
    passages: int | None
    tokens: int | None


class Prospect(TypedDict):
    """The work of indexing for one agent; `destination` and `model` are null if nothing leaves the machine."""

    id: str
    provider: str
    rule: str
    destination: str | None
    model: str | None
    files: int | None
    passages: int
    tokens: int | None
    media: int | None
    mediaBytes: int | None
    conversations: SpokenProspect | None
    paused: bool


_BYTES_PER_TOKEN = 4


def prospects(invocation: Invocation) -> list[Prospect]:
    """Return the estimates for the agent of `--agent`, else for all agents. Raises ConfigError and UnknownAgent."""
    config = load().config
    agents = [agent for agent in config.resolved_agents() if invocation.agent in (None, agent.id)]
    if not agents:
        raise unknown_agent(invocation.agent, (agent.id for agent in config.resolved_agents()))
    return [_prospect(agent, config) for agent in agents]


def _prospect(agent: Agent, config: Config) -> Prospect:
    store = ModelStore.from_config(agent.memory_search.local, os.environ)
    plan = plan_for(agent, config.models, store=store, environment=os.environ, home=Path.home())
    remote = plan.first if isinstance(plan.first, RemoteSettings) else None
    files, passages = 0, dict[bytes, tuple[int, int]]()
    for reading in _readings(agent, config, plan):
        files += 1
        passages |= dict(_costs(reading))
    media = [size for _, size in passages.values() if size]
    return {
        "id": agent.id,
        "provider": plan.choice.provider,
        "rule": plan.choice.rule,
        "destination": remote.destination if remote else None,
        "model": remote.model_name if remote else None,
        "files": files,
        "passages": len(passages),
        "tokens": sum(tokens for tokens, _ in passages.values()),
        "media": len(media),
        "mediaBytes": sum(media),
        "conversations": _spoken(agent),
        "paused": agent.memory_search.sync.paused,
    }


def _spoken(agent: Agent) -> SpokenProspect | None:
    """Return the size of the transcripts without reading them; tokens are at most a fourth of their bytes."""
    if not agent.reads_transcripts:
        return None
    own = (Path(folder.path) for folder in agent.memory.sessions.folders if folder.agent == agent.id)
    folders = dict.fromkeys((openclaw_sessions(agent.id), *own))
    sizes = [stat.size for folder in folders for stat in find_transcripts(folder).files.values()]
    return {"files": len(sizes), "bytes": sum(sizes), "passages": None, "tokens": sum(sizes) // _BYTES_PER_TOKEN}


def _readings(agent: Agent, config: Config, plan: EmbedderPlan) -> Iterator[Reading]:
    search = agent.memory_search
    media = media_rules(search, plan)
    roots, rules = roots_and_rules(agent, max_file_bytes=config.limits.max_file_bytes, media=media)
    disk = scan(roots, rules).files
    reader = Reader(
        roots, rules, ChunkSettings(search.chunking.tokens, search.chunking.overlap), disk, Path(tempfile.gettempdir())
    )
    for path in disk:
        reading = reader.read(path, None)
        if reading.status is ReadStatus.CHANGED:
            yield reading


def _costs(reading: Reading) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """Yield the hash of each passage with its tokens and the bytes of its picture or sound (0 for a text)."""
    size = reading.known.stat.size if reading.known else 0
    modality = modality_of(reading.path)
    for chunk in reading.chunks:
        for passage in chunk.passages:
            if modality is not None:
                yield passage.hash, (estimate(chunk.text) + token_estimate(modality, size), size)
            else:
                text = chunk.text[passage.start : passage.stop]
                yield passage.hash, (estimate(chunk.heading) + estimate(text), 0)
