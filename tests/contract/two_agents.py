"""Two agents with words unique to their notes, and every kind of socket, in the real daemon."""

import json
from collections.abc import Mapping
from pathlib import Path

import httpx

from tests.daemon import RunningDaemon
from tests.waiting import SECONDS

MARKERS = {"alpha": ("zinnober", "kupferkabel"), "beta": ("ultramarin", "messingtopf")}
SECRETS = {
    "alpha": "The zinnober lantern hangs beside the kupferkabel.",
    "beta": "An ultramarin boat holds the messingtopf.",
}
GROUP, DIRECT = "agent:{}:discord:group:7", "agent:{}:main"
SCOPE = {"rules": [{"action": "allow", "match": {"chatType": "direct"}}]}


def prepare(home: Path, model: Path | None, scope: Mapping[str, object] = SCOPE, **memory: object) -> RunningDaemon:
    """Return a daemon, not started, with the owner's socket and two per agent, one of them with a fixed key."""
    for agent, secret in SECRETS.items():
        folder = home / agent / "memory"
        folder.mkdir(parents=True)
        (folder.parent / "MEMORY.md").write_text(f"# Core\n\n{secret}\n")
        (folder / "2026-11-18.md").write_text(f"# Wednesday\n\n{secret} It was a wet day by the sea.\n")
    search: dict[str, object] = {"local": {"modelPath": str(model), "threads": 1}} if model else {"provider": "none"}
    listed = [
        {
            "id": agent,
            "workspace": str(home / agent),
            "sockets": [
                {"path": str(socket_of(home, agent))},
                {"path": str(socket_of(home, f"{agent}-fixed")), "sessionKey": DIRECT.format(agent)},
            ],
        }
        for agent in SECRETS
    ]
    config = home / "config.json5"
    agents = {"defaults": {"memorySearch": search}, "list": listed}
    # tests look for each denial in the log
    log = {"maxPerMinute": 100_000}
    config.write_text(json.dumps({"agents": agents, "memory": {"scope": dict(scope), **memory}, "log": log}))
    config.chmod(0o600)
    return RunningDaemon(home, config, home / "alpha")


def socket_of(home: Path, name: str) -> Path:
    """Return the path of a socket."""
    return home / "run" / ("memoryd.sock" if name == "owner" else f"{name}.sock")


def client_of(daemon: RunningDaemon, socket: str) -> httpx.Client:
    """Return a client of a socket."""
    transport = httpx.HTTPTransport(uds=str(socket_of(daemon.home, socket)), verify=False)
    return httpx.Client(transport=transport, base_url="http://memoryd", timeout=SECONDS)
