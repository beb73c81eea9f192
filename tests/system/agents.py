"""The real daemon with a configuration of several agents, and agents with a socket."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.daemon import RunningDaemon


def daemon_of_agents(
    home: Path,
    agents: Iterable[Mapping[str, object]],
    workspace: Path | None = None,
    *,
    search: Mapping[str, object] | None = None,
    options: Mapping[str, Any] | None = None,
    **sections: object,
) -> RunningDaemon:
    """Return a daemon, not started, of these agents; `workspace` is that of each without its own.

    `search` is merged over memorySearch, which has no provider; `options` are those of `RunningDaemon`.
    """
    defaults: dict[str, object] = {"memorySearch": {"provider": "none", **(search or {})}}
    if workspace is not None:
        defaults["workspace"] = str(workspace)
    config = home / "config.json5"
    config.write_text(json.dumps({"agents": {"defaults": defaults, "list": list(agents)}, **sections}))
    config.chmod(0o600)
    return RunningDaemon(home, config, workspace or home, **(options or {}))


def socket_of(home: Path, agent: str) -> Path:
    """Return the socket of an agent made by `with_socket`."""
    return home / "run" / f"{agent}.sock"


def with_socket(home: Path, agent: str, **bound: str) -> dict[str, Any]:
    """Return an agent with a socket, which is bound to a session key if one is given."""
    return {"id": agent, "sockets": [{"path": str(socket_of(home, agent)), **bound}]}
