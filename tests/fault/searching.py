"""A thread that searches continuously and checks every answer."""

import random
import threading
import time

from memoryd.client import Client
from memoryd.errors import DaemonNotRunning, DeadlineExceeded, NotNow
from tests.daemon import RunningDaemon
from tests.fault.model import VOCABULARY, Oracle, markers

DEADLINE_SECONDS = 15.0


class SearchThread(threading.Thread):
    """Searches about `rate` times a second; `wrong` collects answers that violate I2 or I5."""

    def __init__(self, daemon: RunningDaemon, oracle: Oracle, rnd: random.Random, rate: float = 20.0) -> None:
        super().__init__(name="search", daemon=True)
        self.answers = 0
        self.refusals = 0
        self.absences = 0
        self.wrong: list[str] = []
        self._socket = daemon.socket
        self._oracle = oracle
        self._rnd = rnd
        self._rate = rate
        self._is_over = False

    def end(self) -> None:
        """Stop for good."""
        self._is_over = True
        self.join(DEADLINE_SECONDS + 5)

    def run(self) -> None:
        with Client(self._socket, timeout=DEADLINE_SECONDS) as client:
            while not self._is_over:
                self._ask(client)
                time.sleep(self._rnd.expovariate(self._rate))

    def _ask(self, client: Client) -> None:
        words = self._rnd.sample(VOCABULARY, 2)
        asked_at = time.monotonic()
        try:
            reply = client.search(" ".join(words))
        except DaemonNotRunning:
            self.absences += 1
        except DeadlineExceeded:
            self.wrong.append(f"I5: no answer within {DEADLINE_SECONDS:g} s")
        except NotNow:
            self.refusals += 1
        except Exception as exc:
            self.wrong.append(f"I5: {exc!r}")
        else:
            self.answers += 1
            for hit in reply["results"]:
                self._judge(hit["path"], markers(hit["snippet"].encode()), asked_at)

    def _judge(self, path: str, quoted: set[str], asked_at: float) -> None:
        """Check I2: a quoted text was in the document, and was not removed before the question."""
        foreign = quoted - self._oracle.ever_at.get(path, set())
        if foreign:
            self.wrong.append(f"I2: {path} never held {sorted(foreign)}")
        retired = {word: at for word in quoted if (at := self._oracle.retired.get((path, word)))}
        if stale := {word: f"{asked_at - at:.3f} s" for word, at in retired.items() if at < asked_at}:
            self.wrong.append(f"I2: {path} had not held {stale} when the question was asked")
