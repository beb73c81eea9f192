"""Random programs of changes to notes, done to the real daemon with an embedding provider on loopback.

No private text may be in any byte of its folders or its log, or be sent. MEMORYD_PRIVACY_EXAMPLES sets the number of
programs.
"""

import os
import tempfile
import time
from pathlib import Path

from hypothesis import Phase, given, settings

from tests.daemon import RunningDaemon, write_config
from tests.embedding_endpoint import Endpoint
from tests.private_world import PrivateWorld, Restart, Step, all_bytes, held, programs
from tests.sweeps import whole_or
from tests.waiting import SECONDS

EXAMPLES = int(os.environ.get("MEMORYD_PRIVACY_EXAMPLES", whole_or(10, 20))) // 10
SYNC = {"watch": False, "settleMs": 20, "deleteGraceMs": 50}


def _start(folder: Path, workspace: Path, endpoint: Endpoint) -> RunningDaemon:
    remote = {"baseUrl": endpoint.url, "apiKey": "none"}
    search = {"provider": "openai", "model": "bag-of-words", "remote": remote, "sync": SYNC}
    config = write_config(folder, workspace, None, search=search)
    daemon = RunningDaemon(folder, config, workspace, environment={"MEMORYD_LOG_LEVEL": "INFO"})
    daemon.start()
    return daemon


def _restart(daemon: RunningDaemon, how: str) -> None:
    """Restart the daemon after an orderly stop, a crash, or a crash that damaged the index."""
    if how == "stop":
        assert daemon.stop() == 0
    else:
        daemon.kill()
    if how == "spoil":
        for index in daemon.state.rglob("index.sqlite"):
            index.write_bytes(bytes(16) + index.read_bytes()[16:])
    daemon.start()


def _check(daemon: RunningDaemon, world: PrivateWorld, endpoint: Endpoint) -> None:
    sent = len(endpoint.texts())
    client = daemon.client()
    client.sync(wait="indexed")
    forbidden = world.settle()
    if world.public:
        client.sync(wait="embedded", timeout_ms=90_000)
    end = time.monotonic() + SECONDS
    while found := held(forbidden, all_bytes(daemon.state)):
        assert time.monotonic() < end, f"left behind: {found}"
        time.sleep(0.1)
    assert held(forbidden, daemon.log.read_bytes()) == set()
    texts = endpoint.texts()
    assert held(forbidden, "\n".join(texts[sent:]).encode()) == set()
    assert held(world.never_public, "\n".join(texts).encode()) == set()
    for word in world.public:
        assert client.search(word)["results"], f"{word} is public and not found"


def assert_kept_private(program: list[list[Step]], folder: Path) -> None:
    workspace = folder / "workspace"
    world = PrivateWorld(workspace, seed=len(program))
    with Endpoint(folder) as endpoint:
        daemon = _start(folder, workspace, endpoint)
        try:
            for steps in program:
                for step in steps:
                    world.do(step)
                for how in {step.how for step in steps if isinstance(step, Restart)}:
                    _restart(daemon, how)
                _check(daemon, world, endpoint)
        finally:
            assert daemon.stop() == 0


@settings(max_examples=max(1, EXAMPLES), phases=[Phase.generate])
@given(programs)
def test_private_text_is_never_stored_or_sent(program: list[list[Step]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert_kept_private(program, Path(folder))
