"""What the service is told of the environment in which it is installed: where things lie, never a key."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from memoryd.config.root import Config
from memoryd.service.service_needs import has_packaged_model

PLACES: Final = (
    "MEMORYD_CONFIG",
    "MEMORYD_STATE_DIR",
    "MEMORYD_SOCKET",
    "MEMORYD_WORKSPACE",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "OPENCLAW_STATE_DIR",
    "HF_HUB_CACHE",
    "HF_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
)
"""Variables that name a folder or a file."""
WORDS: Final = ("MEMORYD_LOG_LEVEL", "MEMORYD_OFFLINE")
PROXIES: Final = tuple(
    name for word in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY") for name in (word, word.lower())
)
"""Variables with an address; one with a password must not stand in a unit."""
KEYS: Final = ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "VOYAGE_API_KEY", "MISTRAL_API_KEY")
"""Variables with a key, which the daemon may read and a unit must not hold."""
USUAL: Final = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Where a service manager looks for programs anyway."""


def carried_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the service is given, paths absolute; an empty one counts as unset."""
    places = {name: _absolute(name, environment[name]) for name in PLACES if environment.get(name)}
    proxies = [name for name in PROXIES if "@" not in environment.get(name, "")]
    words = {name: environment[name] for name in (*WORDS, *proxies) if environment.get(name)}
    return {name: value for name, value in {**places, **words}.items() if value}


def carried_places(carried: Mapping[str, str]) -> list[Path]:
    """Return what the variables that the service is given name."""
    return [Path(carried[name]) for name in PLACES if name in carried]


def programs_run(config: Config, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the programs that the daemon runs beside its own, as far as they are found here."""
    found = (_found(name, environment) for name in _programs(config))
    return tuple(dict.fromkeys(Path(one) for one in found if one and Path(one).is_absolute()))


def search_path(programs: Iterable[Path]) -> tuple[str, ...]:
    """Return folders of programs in which a manager would not look."""
    return tuple(dict.fromkeys(folder for one in programs if (folder := str(one.parent)) not in USUAL))


def unheld_keys(environment: Mapping[str, str]) -> list[str]:
    """Return the variables with keys that are set here and that the service will not see."""
    return [name for name in KEYS if environment.get(name)]


def unheld_proxies(environment: Mapping[str, str]) -> list[str]:
    """Return the variables with a proxy and a password, which the service will not see either."""
    return [name for name in PROXIES if "@" in environment.get(name, "")]


def _absolute(name: str, value: str) -> str:
    """Return the path that the daemon would make of a value here; XDG's relative ones are ignored, by its rules."""
    path = Path(value)
    if name.startswith("XDG_") and not path.is_absolute():
        return ""
    return str(Path.cwd() / os.path.expanduser(path))  # noqa: PTH111


def _found(name: str, environment: Mapping[str, str]) -> str | None:
    return shutil.which(os.path.expanduser(name), path=environment.get("PATH", os.defpath))  # noqa: PTH111


def _programs(config: Config) -> Iterator[str]:
    """Yield the programs that the daemon starts: qmd and what runs it, and uv, which fetches packaged models."""
    if config.memory.backend == "qmd":
        yield from (config.memory.qmd.command, "node", "bun")
    if any(has_packaged_model(agent) for agent in config.resolved_agents()):
        yield "uv"
