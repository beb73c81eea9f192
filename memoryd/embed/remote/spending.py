"""What remote embedding costs: tokens sent on a day, kept over restarts, and a bound on them."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Final

import structlog

from memoryd.domain.embedding import Vector
from memoryd.domain.media import Media, token_estimate
from memoryd.domain.text.tokens import estimate
from memoryd.embed.protocol import Embedder, EmbedderIdentity, Passage, Unembeddable
from memoryd.errors import BudgetSpent, EmbedderUnavailable
from memoryd.files.writing import replace_file

log = structlog.get_logger(__name__)

BOOK_BYTES_MAX: Final = 1024 * 1024


class SpendingBook:
    """Tokens (estimated) sent to each destination on the current day (UTC), in a small file.

    A file that cannot be read counts as empty; one that cannot be written costs the memory of it, not the work.
    """

    def __init__(self, path: Path, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._path = path
        self._clock = clock
        self._day = ""
        self._tokens: dict[str, int] = {}
        self._reserved: Counter[str] = Counter()
        self._lock = asyncio.Lock()

    def spent(self, destination: str) -> int:
        """Return the tokens sent today."""
        self._turn_page()
        return self._tokens.get(destination, 0)

    def reserved(self, destination: str) -> int:
        """Return the tokens that are being sent, and of which it is not known yet whether they arrive."""
        return self._reserved[destination]

    @contextmanager
    def reserving(self, destination: str, tokens: int) -> Iterator[None]:
        """Count tokens as being sent while the block runs: whoever sends at the same time finds them gone."""
        self._reserved[destination] += tokens
        try:
            yield
        finally:
            self._reserved[destination] -= tokens

    async def add(self, destination: str, tokens: int) -> None:
        """Note that tokens were sent."""
        self._turn_page()
        self._tokens[destination] = self._tokens.get(destination, 0) + tokens
        async with self._lock:
            await asyncio.to_thread(self._write, json.dumps({"day": self._day, "tokens": self._tokens}))

    def _turn_page(self) -> None:
        today = self._clock().date().isoformat()
        if self._day != today:
            self._tokens = _read(self._path, today)
            self._day = today

    def _write(self, text: str) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(self._path, text.encode())
        except OSError as exc:
            log.warning("the tokens of today cannot be noted", reason=str(exc))


class MeteredEmbedder:
    """Counts what is sent. Documents wait for the next day when `limit` tokens are spent, None: no limit.

    Questions are counted and asked all the same: they are small, and somebody waits.
    """

    def __init__(self, inner: Embedder, *, book: SpendingBook, destination: str, limit: int | None) -> None:
        self._inner = inner
        self._book = book
        self._destination = destination
        self._limit = limit

    @property
    def identity(self) -> EmbedderIdentity:
        """Names the vector space."""
        return self._inner.identity

    async def embed_query(self, text: str) -> Vector:
        """Ask and count; raises as the embedder does."""
        vector = await self._inner.embed_query(text)
        await self._book.add(self._destination, estimate(text))
        return vector

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        """Ask and count; raises BudgetSpent when the day's tokens are spent, else as the embedder does."""
        totals = list(accumulate(map(_tokens, passages)))
        tokens = totals[-1] if totals else 0
        # no await between the look at what is left and the reservation: two workspaces would both find it free
        if self._limit is not None:
            self._refuse_beyond(self._limit, totals)
        with self._book.reserving(self._destination, tokens):
            answers = await self._inner.embed_documents(passages)
        await self._book.add(self._destination, tokens)
        return answers

    def _refuse_beyond(self, limit: int, totals: Sequence[int]) -> None:
        spent, reserved = self._book.spent(self._destination), self._book.reserved(self._destination)
        fits = _fitting(totals, limit, spent + reserved)
        if fits >= len(totals):
            return
        if not fits and _fitting(totals, limit, spent):
            raise EmbedderUnavailable(
                f"about {reserved:,} tokens are being sent to {self._destination}, and "
                f"memorySearch.remote.tokensPerDay is {limit:,}: notes wait for what is left of it"
            )
        raise BudgetSpent(
            f"about {spent:,} tokens were sent to {self._destination} today, and "
            f"memorySearch.remote.tokensPerDay is {limit:,}: notes wait for the next day (UTC)",
            fits=fits,
        )


def _fitting(totals: Sequence[int], limit: int, used: int) -> int:
    """Return how many passages still fit, of which `totals` are the tokens up to each."""
    # a day whose limit is less than one passage still sends one
    return max(sum(used + total <= limit for total in totals), 0 if used else 1)


def _tokens(passage: Passage) -> int:
    words = estimate(passage.title) + estimate(passage.text)
    file = passage.attachment
    return words if file is None else words + token_estimate(Media(file.mime).modality, len(file.data))


def _read(path: Path, day: str) -> dict[str, int]:
    try:
        with path.open("rb") as file:
            noted = json.loads(file.read(BOOK_BYTES_MAX))
    except (OSError, ValueError, RecursionError):
        return {}
    tokens = noted.get("tokens") if isinstance(noted, dict) and noted.get("day") == day else None
    entries = tokens.items() if isinstance(tokens, dict) else ()
    return {name: count for name, count in entries if isinstance(count, int) and count >= 0}
