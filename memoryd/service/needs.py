"""What the daemon needs of the system, by its configuration: places with their links, and what it may not be denied."""

import os
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from memoryd.config.agents import Agent
from memoryd.config.loading.exposure import HERE, is_here
from memoryd.config.paths import cache_dir, config_file, expand, openclaw_sessions, socket_path, state_dir
from memoryd.config.root import Config
from memoryd.config.section import Secret, Section, leaves
from memoryd.config.team import is_on_disk
from memoryd.domain.documents import ROOT_FOLDERS
from memoryd.domain.embedding import PROVIDERS

PATTERNS = frozenset({"exclude"})
"""Keys whose texts may begin with a slash and name no place."""
ANYWHERE = ("/", "~")
"""How a path begins that is relative to no folder."""
LINKS_MAX = 40
"""As many as Linux follows."""
FETCHED = ("hf:", "http:", "https:", "pypi:")
TEMPORARY = (Path("/tmp"), Path("/var/tmp"))
GPU_DEVICES = ("/dev/kfd", "/dev/nvidiactl", "/dev/dri/renderD128")


class ServiceNeeds(Struct, frozen=True, kw_only=True):
    """What must stay possible; the texts say why, and are empty where it is not needed."""

    own: tuple[Path, ...]
    """Folders that the daemon makes itself; they must be there before all above them is read-only."""
    workspaces: tuple[Path, ...]
    """Folders of notes that it writes to."""
    readable: tuple[Path, ...]
    """All else that it must see, links on the way to it included."""
    network: str = ""
    javascript: str = ""
    gpu: str = ""
    memory: str = ""
    """Why it takes more memory than an embedding model does."""

    @property
    def writable(self) -> tuple[Path, ...]:
        """All folders that it writes to."""
        return tuple(dict.fromkeys((*self.own, *self.workspaces)))

    @property
    def temporary(self) -> str:
        """Why it needs the /tmp of everybody."""
        found = (path for path in (*self.writable, *self.readable) if any(map(path.is_relative_to, TEMPORARY)))
        path = next(found, None)
        return f"{path} lies there" if path else ""


def needs_of(
    config: Config, source: Path | None = None, *, also: Iterable[Path] = (), has_gpu: bool | None = None
) -> ServiceNeeds:
    """Return what a configuration needs, and places that it must see beside what that names, such as its program.

    Links are followed; whether there is a GPU is looked up unless given.
    """
    agents = config.resolved_agents()
    is_qmd = config.memory.backend == "qmd"
    has_text_model = config.memory.llm.provider == "local"
    is_accelerated = any(map(os.path.exists, GPU_DEVICES)) if has_gpu is None else has_gpu
    local = next(_local_models(config, agents), "")
    own = [state_dir(), cache_dir(), socket_path().parent, *_own(config, agents)]
    notes = [path for agent in agents for path in _notes(agent)]
    seen = [source or config_file(), *_read(config, agents), *own, *notes, *also]
    return ServiceNeeds(
        own=_paths(own),
        workspaces=_paths(notes),
        readable=tuple(dict.fromkeys(path for one in seen for path in on_the_way(one))),
        network=next(_network(config, agents), ""),
        javascript="qmd compiles its JavaScript while it runs" if is_qmd else "",
        gpu=f"{local or 'qmd'} may use the GPU" if is_accelerated and (local or is_qmd) else "",
        memory="qmd loads models of its own" if is_qmd else "memoryd runs a text model" if has_text_model else "",
    )


def has_packaged_model(agent: Agent) -> bool:
    """Tell whether a model may be fetched from a package index, by pip or uv."""
    local = agent.memory_search.local
    return local.download and local.model_path.startswith("pypi:")


def named_places(section: Section) -> Iterator[Path]:
    """Yield what a section and all below it name by an absolute path or by `~`, files of secrets included.

    Any text that begins so counts: a key that is no path costs a little less hardening, a path that is left out breaks
    the service. What is relative to a workspace is not here.
    """
    for location, value in leaves(section):
        text = value.content.get_secret_value() if isinstance(value, Secret) and value.kind == "file" else value
        if isinstance(text, str) and text.startswith(ANYWHERE) and PATTERNS.isdisjoint(location):
            yield expand(text, Path.home())


def on_the_way(path: Path) -> Iterator[Path]:
    """Yield a path, and each that a link on it leads to, the real one last."""
    for _ in range(LINKS_MAX):
        yield path
        link = next((one for one in reversed((path, *path.parents)) if one.is_symlink()), None)
        if link is None:
            return
        # all above the first link is real, so that `..` may be taken by its text
        path = Path(os.path.normpath(link.parent / link.readlink() / path.relative_to(link)))


def _own(config: Config, agents: Iterable[Agent]) -> Iterator[Path]:
    exports = config.memory.qmd.sessions
    if config.memory.backend == "qmd" and exports.enabled and exports.export_dir:
        yield expand(exports.export_dir, Path.home())
    if config.http.enabled:
        yield config.http.token_path().parent
    if config.team.remote is not None:
        # git writes into the checkout, and pushes to a repository that lies here
        named = (config.team.checkout or "", config.team.remote)
        yield from (expand(one, Path.home()) for one in named if one.startswith(ANYWHERE))
    for agent in agents:
        yield agent.index_path.parent
        yield from (expand(socket.path, Path.home()).parent for socket in agent.sockets)
        if has_packaged_model(agent) and find_spec("pip") is None:
            # uv, which then fetches it, does nothing where it cannot write to its cache
            yield cache_dir().parent / "uv"
        if agent.memory_search.local.model_cache_dir:
            yield expand(agent.memory_search.local.model_cache_dir, Path.home())


def _notes(agent: Agent) -> Iterator[Path]:
    """Yield the workspace and where its parts really lie: a link may lead out of it."""
    yield agent.workspace
    for name in ("MEMORY.md", *ROOT_FOLDERS):
        if (agent.workspace / name).is_symlink():
            real = Path(os.path.realpath(agent.workspace / name))
            yield real if real.is_dir() else real.parent


def _read(config: Config, agents: Iterable[Agent]) -> Iterator[Path]:
    yield from named_places(config)
    # caches of others in which models are looked for
    yield from (cache_dir().parent / name for name in ("huggingface", "qmd"))
    for agent in agents:
        yield openclaw_sessions(agent.id)
        # these may be relative to the workspace
        yield from (expand(path, agent.workspace) for path in agent.memory_search.extra_paths)
        collections = (*config.memory.qmd.paths, *agent.memory_search.qmd.extra_collections)
        yield from (expand(one.path, agent.workspace) for one in collections)


def _local_models(config: Config, agents: Iterable[Agent]) -> Iterator[str]:
    """Yield what runs in a worker of ours."""
    for agent in agents:
        search = agent.memory_search
        if search.enabled and {search.provider, search.fallback} & {"local", "auto"}:
            yield "the embedding model"
        if search.query.rerank.model_path:
            yield "the reranker"
    if config.memory.llm.provider == "local":
        yield "the text model"


def _network(config: Config, agents: Iterable[Agent]) -> Iterator[str]:
    """Yield what leads out of this machine."""
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
    """Tell whether a provider is asked elsewhere; one without a key is here unless an address says otherwise."""
    if provider in PROVIDERS and not PROVIDERS[provider].needs_key:
        entry = config.models.providers.get(provider)
        return entry is not None and not _is_near(entry.base_url)
    return provider not in HERE


def _is_near(address: str | None) -> bool:
    return address is None or is_here(urlsplit(address).hostname or "")


def _paths(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return real paths, each once."""
    return tuple(dict.fromkeys(Path(os.path.realpath(path)) for path in paths))
