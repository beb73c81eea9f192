"""A fixed piece of work in this process, by whose time figures of other machines and other hours become comparable.

It does what a question costs a daemon: it cuts and weighs words in plain Python, multiplies a small matrix and asks
SQLite for words. What it does must never change, or every recorded figure has to be taken anew.
"""

import json
import math
import re
import time
from collections import Counter

import apsw
import numpy as np

ROWS, ASKED = 400, 12
WORD = re.compile(r"\w+")


class Yardstick:
    """The work and its material; `ms` is the least processor time of one round so far."""

    def __init__(self) -> None:
        self.ms = math.inf
        words = [f"word{number * number % 977}" for number in range(4_000)]
        self._texts = [" ".join(words[at : at + 90]) for at in range(0, ROWS * 9, 9)]
        self._matrix = np.random.default_rng(1).standard_normal((2_000, 384), dtype=np.float32)
        self._database = apsw.Connection(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
        self._database.executemany("INSERT INTO texts VALUES (?)", ((text,) for text in self._texts))

    def lay(self, rounds: int = 1) -> None:
        """Do the work so often."""
        self.ms = min(self.ms, *(self._round_ms() for _ in range(rounds)))

    def _round_ms(self) -> float:
        start = time.thread_time()
        for number in range(ASKED):
            question = f"word{number} OR word{number * 7} OR word{number * 31}"
            rows = self._database.execute(
                "SELECT rowid, bm25(texts) FROM texts WHERE texts MATCH ? ORDER BY 2 LIMIT 24", (question,)
            ).fetchall()
            # without BLAS, which would spread it over threads
            near = np.einsum("ij,j->i", self._matrix, self._matrix[number])
            found = [*(row for row, _ in rows), *np.argpartition(near, -24)[-24:].tolist()]
            weights: Counter[str] = Counter()
            for place, row in enumerate(found):
                for word in WORD.findall(self._texts[row % ROWS]):
                    weights[word] += 1.0 / (place + 60)  # type: ignore[assignment]
            json.loads(json.dumps([{"word": word, "weight": weight} for word, weight in weights.most_common(200)]))
        return 1000 * (time.thread_time() - start)
