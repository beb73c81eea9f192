"""Asking a daemon many questions, from one client or several at once, and what it took."""

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.measurement import Aim, Row
from bench.timing import Stopwatch, median, percentile
from memoryd.client import Client
from tests.daemon import RunningDaemon

TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class Latencies:
    """Milliseconds a question: as the client saw them, and as the daemon reports them."""

    wall: list[float]
    took: list[float]
    modes: frozenset[str]
    embedding: float
    """What the vector of a question took of it, the mean; 0 without."""

    def rows(self, name: str, *, aim: Aim | None = None, note: str = "") -> Iterator[Row]:
        """Yield median and 95th percentile; the aim holds for the median."""
        inside = f"tookMs {median(self.took):.1f}, {len(self.wall)} questions, {'/'.join(sorted(self.modes))}"
        if self.embedding:
            inside += f", the vector of a question {self.embedding:.1f} ms"
        yield Row(f"{name}: p50", median(self.wall), "ms", aim, f"{inside}; {note}" if note else inside)
        yield Row(f"{name}: p95", percentile(self.wall, 95), "ms")


def ask(
    daemon: RunningDaemon,
    questions: Sequence[str],
    *,
    clients: int = 1,
    goes_on: Callable[[], bool] = lambda: True,
) -> Latencies:
    """Ask every question once over connections that are kept, `clients` at a time, for as long as `goes_on` says."""
    shares = [questions[first::clients] for first in range(clients)]
    before = _embedding(daemon)
    with ThreadPoolExecutor(clients) as pool:
        parts = list(pool.map(lambda share: _ask(daemon, share, goes_on), shares))
    seconds, vectors = _embedding(daemon) - before
    answers = [answer for part in parts for answer in part]
    if not answers:
        raise RuntimeError("the work was over before the first question")
    return Latencies(
        [wall for wall, _, _ in answers],
        [took for _, took, _ in answers],
        frozenset(mode for _, _, mode in answers),
        1000 * seconds / vectors if vectors else 0.0,
    )


def _embedding(daemon: RunningDaemon) -> NDArray[np.float64]:
    """Return how many seconds the daemon has spent on vectors of questions, and how many these were."""
    with Client(daemon.socket, timeout=TIMEOUT) as client:
        text = client.metrics()
    spent = (re.findall(rf'_arm_duration_seconds_{one}{{.*arm="embedding".*}} (.*)', text) for one in ("sum", "count"))
    return np.array([sum(map(float, values)) for values in spent])


def _ask(
    daemon: RunningDaemon, questions: Sequence[str], goes_on: Callable[[], bool]
) -> list[tuple[float, float, str]]:
    answers: list[tuple[float, float, str]] = []
    with Client(daemon.socket, timeout=TIMEOUT) as client:
        client.health()
        for question in questions:
            if not goes_on():
                break
            watch = Stopwatch()
            reply = client.search(question)
            answers.append((watch.ms, reply["tookMs"], reply["mode"]))
    return answers
