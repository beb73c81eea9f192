"""Warnings about exposed data: keys in files that other users can read, and notes that are sent unencrypted."""

import ipaddress
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from memoryd.config.agents import Agent
from memoryd.config.loading.keys import dotted
from memoryd.config.providers import READ_PROVIDERS
from memoryd.config.root import Config
from memoryd.config.section import Secret, single_values
from memoryd.config.team import without_credentials
from memoryd.domain.embedding import PROVIDERS

LOCAL_PROVIDERS = frozenset({"local", "none"})
OTHERS = stat.S_IRWXG | stat.S_IRWXO
READERS = stat.S_IRGRP | stat.S_IROTH
WRITERS = stat.S_IWGRP | stat.S_IWOTH


class Exposure(Struct, frozen=True):
    """Data that others could read, and one sentence that says what to do."""

    message: str
    hint: str

    def __str__(self) -> str:
        return f"{self.message}: {self.hint}"


def exposures(config: Config, source: Path | None) -> list[Exposure]:
    """Return warnings about the modes of the files and the addresses that notes and memories are sent to."""
    warnings = [*_open_files(config), *_plain_keys(config, source)]
    for agent in config.resolved_agents():
        warnings += _in_the_clear(agent, config)
    warnings += _memories_in_the_clear(config)
    return list(dict.fromkeys(warnings))


def _secrets(config: Config) -> Iterator[tuple[str, Secret]]:
    """Yield each secret with its key in the configuration."""
    yield from ((dotted(location), value) for location, value in single_values(config) if isinstance(value, Secret))


def _open_files(config: Config) -> Iterator[Exposure]:
    files = (secret.content.get_secret_value() for _, secret in _secrets(config) if secret.kind == "file")
    for path in (Path(file).expanduser() for file in files):
        if mode := mode_of_others(path):
            what = "changed" if mode & WRITERS else "read"
            yield Exposure(f"the key in {path} can be {what} by other users", f"chmod 600 {shlex.quote(str(path))}")


def _plain_keys(config: Config, source: Path | None) -> Iterator[Exposure]:
    keys = [where for where, secret in _secrets(config) if secret.kind == "text"]
    remote = config.team.remote or ""
    plain = next(iter([*keys, *["team.remote"] * (without_credentials(remote) != remote)]), None)
    if source is not None and plain is not None and mode_of_others(source) & READERS:
        instead = ', or give the key as {file: "/absolute/path"} or {env: "NAME"}' * bool(keys)
        hint = f"chmod 600 {shlex.quote(str(source))}{instead}"
        yield Exposure(f"{source} holds a key ({plain}) and can be read by other users", hint)


def mode_of_others(path: Path) -> int:
    """Return the mode bits of group and others; 0 for a missing file, which is reported when it is used."""
    try:
        return path.stat().st_mode & OTHERS
    except (OSError, RuntimeError):
        return 0


def _in_the_clear(agent: Agent, config: Config) -> Iterator[Exposure]:
    search = agent.memory_search
    used = {search.provider, search.fallback} - LOCAL_PROVIDERS
    entries = (PROVIDERS[provider].config_names if provider in PROVIDERS else READ_PROVIDERS for provider in used)
    names = set[str]().union(*entries)
    addresses = [search.remote.base_url] if used else []
    addresses += [entry.base_url for name, entry in config.models.providers.items() if name in names]
    for address in addresses:
        yield from _sent_in_the_clear(f"notes of agent {agent.id}", address)


def _memories_in_the_clear(config: Config) -> Iterator[Exposure]:
    llm = config.memory.llm
    if llm.is_endpoint:
        entry = config.models.providers.get("openai")
        yield from _sent_in_the_clear("memories", llm.base_url or (entry.base_url if entry else None))


def _sent_in_the_clear(what: str, address: str | None) -> Iterator[Exposure]:
    host = urlsplit(address or "").hostname or ""
    if address and urlsplit(address).scheme == "http" and not is_this_machine(host):
        yield Exposure(
            f"{what}, and the key, if there is one, go to {host} unencrypted",
            "use https://, or a tunnel that begins on this machine",
        )


def is_this_machine(host: str) -> bool:
    """Return whether a host name or address is this machine, without a name lookup."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
