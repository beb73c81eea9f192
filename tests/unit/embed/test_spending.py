"""Tokens per day are counted, kept over a restart, limited, and reset at midnight."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from memoryd.domain.text.tokens import estimate
from memoryd.domain.vector import Vector
from memoryd.embed.protocol import EmbedderIdentity, Passage, Unembeddable
from memoryd.embed.remote.breaker import MeteredEmbedder, TokenBudget
from memoryd.errors import BudgetSpent, EmbedderUnavailable

HOST = "api.example.com"
IDENTITY = EmbedderIdentity("openai", "m", "", HOST, 2, "", "{text}", "{text}")
TEN = Passage("ten words are in this text, and that is enough")
COST = estimate(TEN.text)


@dataclass
class Counting:
    """An embedder that records passages, answers while `goes_on` is set, and may be unavailable."""

    identity: EmbedderIdentity = IDENTITY
    passages: list[Passage] = field(default_factory=list)
    is_away: bool = False
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.goes_on.set()

    async def embed_query(self, text: str) -> Vector:
        return np.array([1, 0], np.float32)

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        self.asked.set()
        await self.goes_on.wait()
        if self.is_away:
            raise EmbedderUnavailable("away")
        self.passages += passages
        return [np.array([1, 0], np.float32) for _ in passages]


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 20, 23, 59, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def budget(tmp_path: Path, clock: Clock) -> TokenBudget:
    return TokenBudget(tmp_path / "state" / "spending.json", clock=clock)


def metered(budget: TokenBudget, limit: int | None, inner: Counting | None = None) -> MeteredEmbedder:
    return MeteredEmbedder(inner or Counting(), budget=budget, destination=HOST, limit=limit)


async def test_answered_tokens_are_counted_by_destination(budget: TokenBudget) -> None:
    embedder = metered(budget, None)
    await embedder.embed_documents([TEN, TEN])
    await embedder.embed_query("three more words")
    assert budget.spent(HOST) == 2 * COST + estimate("three more words")
    assert budget.spent("other.example.com") == 0


async def test_failed_call_costs_nothing(budget: TokenBudget) -> None:
    with pytest.raises(EmbedderUnavailable):
        await metered(budget, None, Counting(is_away=True)).embed_documents([TEN])
    assert budget.spent(HOST) == 0


async def test_batch_over_the_limit_says_how_much_of_it_fits(budget: TokenBudget) -> None:
    inner = Counting()
    embedder = metered(budget, 3 * COST, inner)
    with pytest.raises(BudgetSpent, match="tokensPerDay") as caught:
        await embedder.embed_documents([TEN] * 5)
    assert caught.value.fits == 3
    assert inner.passages == []
    await embedder.embed_documents([TEN] * 3)
    with pytest.raises(BudgetSpent) as caught:
        await embedder.embed_documents([TEN])
    assert caught.value.fits == 0
    assert np.allclose(await embedder.embed_query("still asked"), [1, 0])


async def test_limit_below_one_passage_allows_one_a_day(budget: TokenBudget) -> None:
    with pytest.raises(BudgetSpent) as caught:
        await metered(budget, 1).embed_documents([TEN, TEN])
    assert caught.value.fits == 1
    await metered(budget, 1).embed_documents([TEN])
    with pytest.raises(BudgetSpent) as caught:
        await metered(budget, 1).embed_documents([TEN])
    assert caught.value.fits == 0


async def test_spending_survives_a_restart_and_resets_at_midnight(
    tmp_path: Path, budget: TokenBudget, clock: Clock
) -> None:
    await metered(budget, None).embed_documents([TEN])
    again = TokenBudget(tmp_path / "state" / "spending.json", clock=clock)
    assert again.spent(HOST) == COST
    clock.now = datetime(2026, 11, 21, 0, 1, tzinfo=UTC)
    assert again.spent(HOST) == 0
    assert TokenBudget(tmp_path / "state" / "spending.json", clock=clock).spent(HOST) == 0


@pytest.mark.parametrize("text", ["", "[]", '{"day": "2026-11-20", "tokens": [1]}', '{"day": 7}', "{" * 99])
async def test_invalid_file_counts_as_nothing_spent(tmp_path: Path, clock: Clock, text: str) -> None:
    path = tmp_path / "spending.json"
    path.write_text(text)
    assert TokenBudget(path, clock=clock).spent(HOST) == 0


async def test_unwritable_file_does_not_prevent_embedding(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    budget = TokenBudget(tmp_path / "state" / "spending.json", clock=clock)
    await metered(budget, None).embed_documents([TEN])
    assert budget.spent(HOST) == COST


async def test_tokens_in_flight_are_reserved_and_returned_on_failure(budget: TokenBudget) -> None:
    slow = Counting(is_away=True)
    slow.goes_on.clear()
    first = asyncio.ensure_future(metered(budget, 3 * COST, slow).embed_documents([TEN] * 2))
    await slow.asked.wait()
    with pytest.raises(BudgetSpent) as caught:
        await metered(budget, 3 * COST).embed_documents([TEN] * 2)
    assert caught.value.fits == 1
    assert budget.spent(HOST) == 0
    slow.goes_on.set()
    with pytest.raises(EmbedderUnavailable, match="away"):
        await first
    await metered(budget, 3 * COST).embed_documents([TEN] * 3)
    assert budget.spent(HOST) == 3 * COST


async def test_reserved_budget_is_not_reported_as_spent(budget: TokenBudget) -> None:
    slow = Counting()
    slow.goes_on.clear()
    first = asyncio.ensure_future(metered(budget, 2 * COST, slow).embed_documents([TEN] * 2))
    await slow.asked.wait()
    with pytest.raises(EmbedderUnavailable, match="being sent") as caught:
        await metered(budget, 2 * COST).embed_documents([TEN])
    assert not isinstance(caught.value, BudgetSpent)
    slow.goes_on.set()
    await first
    with pytest.raises(BudgetSpent, match="next day"):
        await metered(budget, 2 * COST).embed_documents([TEN])
