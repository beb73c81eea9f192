"""Well-behaved clients: each asks at its own pace over one connection, and checks the answers."""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bench.timing import Stopwatch
from tests.fault.model import VOCABULARY
from tests.load.judging import Judge
from tests.load.tally import Tally

TIMEOUT = 30.0
NOT_NOW = (429, 503, 504)
LINES = 40


@dataclass(frozen=True, slots=True)
class Scene:
    """What all clients share; `pace` is the mean number of seconds between two questions of a client."""

    socket: Path
    tally: Tally
    judge: Judge
    sought: dict[str, str]
    """Marker word → path of the unchanged note with it."""
    pace: float

    def connection(self) -> httpx.AsyncClient:
        """Return a client with one connection of its own."""
        # verification would read all certificates of the system first
        transport = httpx.AsyncHTTPTransport(
            uds=str(self.socket), limits=httpx.Limits(max_connections=1), verify=False, trust_env=False
        )
        return httpx.AsyncClient(
            transport=transport, base_url="http://localhost/v1", timeout=TIMEOUT, verify=False, trust_env=False
        )


Client = Callable[[Scene, random.Random], Coroutine[Any, Any, None]]


async def attend(
    kinds: Mapping[Client, int],
    scene: Scene,
    seed: str,
    seconds: float,
    others: Sequence[Coroutine[Any, Any, None]] = (),
) -> None:
    """Run the given number of clients of each kind, and one that asks for health; then cancel all."""
    chosen = [kind for kind, count in kinds.items() for _ in range(count)]
    clients = [kind(scene, random.Random(f"{seed}-{number}")) for number, kind in enumerate(chosen)]
    asyncio.get_running_loop().set_exception_handler(_report_exception)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(client) for client in (*clients, asking_health(scene), *others)]
        await asyncio.sleep(seconds)
        for task in tasks:
            task.cancel()


def _report_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an unhandled exception, unless a socket is ready just when its reader has left (anyio)."""
    if not isinstance(context.get("exception"), asyncio.InvalidStateError):
        loop.default_exception_handler(context)


async def searching(scene: Scene, rnd: random.Random) -> None:
    """Search words of many notes, or the word of one note."""
    async with scene.connection() as client:
        while True:
            await _think(scene, rnd)
            sought = rnd.choice(list(scene.sought)) if rnd.random() < 0.4 else None
            query = sought or " ".join(rnd.sample(VOCABULARY, 2))
            asked_at = time.monotonic()
            reply = await _asked(scene, client, "search", "/search", {"query": query})
            if reply is not None:
                scene.judge.found(reply, asked_at, scene.sought[sought] if sought else None)


async def reading(scene: Scene, rnd: random.Random) -> None:
    """Read edited and unchanged notes."""
    async with scene.connection() as client:
        while True:
            await _think(scene, rnd)
            if rnd.random() < 0.5:
                path, first = rnd.choice(list(scene.judge.still)), rnd.randint(1, 5)
            else:
                path, first = rnd.choice(list(scene.judge.oracle.files)), 1
            asked_at = time.monotonic()
            reply = await _asked(scene, client, "read", f"/files/{path}?from={first}&lines={LINES}", absent=path)
            if reply is None:
                continue
            if path in scene.judge.still:
                scene.judge.read(path, reply, first, LINES)
            else:
                scene.judge.quoted(path, reply["text"], asked_at)


async def watching(scene: Scene, rnd: random.Random) -> None:
    """Ask for the status."""
    async with scene.connection() as client:
        while True:
            await _think(scene, rnd)
            reply = await _asked(scene, client, "status", "/status")
            if reply is not None and not reply["agents"][0]["chunks"]:
                scene.tally.is_wrong("I6: the status has no chunk")


async def asking_health(scene: Scene, step: float = 0.05) -> None:
    """Ask for the health repeatedly."""
    async with scene.connection() as client:
        while True:
            reply = await _asked(scene, client, "health", "/health")
            if reply is not None and not reply["ok"]:
                scene.tally.is_wrong(f"I5: the health is {reply}")
            await asyncio.sleep(step)


async def _think(scene: Scene, rnd: random.Random) -> None:
    await asyncio.sleep(rnd.expovariate(1 / scene.pace))


async def _asked(
    scene: Scene,
    client: httpx.AsyncClient,
    kind: str,
    target: str,
    body: dict[str, object] | None = None,
    *,
    absent: str = "",
) -> Any:
    """Return the reply, or None for a refusal or an error, which is counted; the path `absent` may be missing."""
    watch = Stopwatch()
    try:
        response = await (client.get(target) if body is None else client.post(target, json=body))
        reply = response.json()
    except (httpx.HTTPError, ValueError) as exc:
        scene.tally.is_wrong(f"I5: {kind}: {exc!r}")
        return None
    if response.status_code == httpx.codes.OK:
        scene.tally.took_ms[kind].append(watch.ms)
        return reply
    if response.status_code in NOT_NOW:
        scene.tally.refused[f"{kind} {reply['error']['code']}"] += 1
    elif response.status_code == httpx.codes.NOT_FOUND and absent:
        scene.tally.took_ms[f"{kind}, not there"].append(watch.ms)
        scene.judge.missing(absent)
    else:
        scene.tally.is_wrong(f"I5: {kind} {target}: {response.status_code} {reply}")
    return None
