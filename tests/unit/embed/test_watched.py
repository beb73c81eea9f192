"""When a provider is given up, and when not."""

from collections.abc import Sequence

import numpy as np
import pytest

from memoryd.domain.breaker import BreakerRule
from memoryd.embed.protocol import EmbedderIdentity, Passage, Unembeddable, Vector
from memoryd.embed.remote.watched import WatchedEmbedder
from memoryd.errors import EmbedderUnavailable, EmbeddingError

AT_ONCE = BreakerRule(first_delay=0.0, longest_delay=0.0, failures_to_open=3)
PATIENT = BreakerRule(first_delay=1000.0, longest_delay=2000.0, failures_to_open=3)


class Moody:
    """Answers or fails as it is told, and counts the questions."""

    def __init__(self) -> None:
        self.identity = EmbedderIdentity("openai", "m", "", "here", 2, "", "{text}", "{text}")
        self.mood: Exception | None = EmbedderUnavailable("here: no connection")
        self.questions = 0

    async def embed_query(self, text: str) -> Vector:
        self.questions += 1
        if self.mood is not None:
            raise self.mood
        return np.array([1, 0], np.float32)

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        return [await self.embed_query(passage.text) for passage in passages]


async def fail(embedder: WatchedEmbedder, times: int) -> None:
    for _ in range(times):
        with pytest.raises(EmbeddingError):
            await embedder.embed_documents([Passage("text")])


async def test_it_is_given_up_after_as_many_failures_as_the_rule_says() -> None:
    watched = WatchedEmbedder(Moody(), AT_ONCE)
    await fail(watched, 2)
    assert watched.trouble is None
    await fail(watched, 1)
    assert watched.trouble == "here: no connection"
    await watched.given_up()


async def test_burst_is_one_failure() -> None:
    watched = WatchedEmbedder(Moody(), PATIENT)
    await fail(watched, 20)
    assert watched.trouble is None


async def test_success_of_a_probe_brings_it_back() -> None:
    moody = Moody()
    watched = WatchedEmbedder(moody, AT_ONCE)
    await fail(watched, 3)
    moody.mood = None
    await watched.probe()
    assert watched.trouble is None


async def test_question_is_refused_at_once_while_it_backs_off_and_a_probe_is_not() -> None:
    moody = Moody()
    watched = WatchedEmbedder(moody, PATIENT)
    await fail(watched, 1)
    asked = moody.questions
    with pytest.raises(EmbedderUnavailable, match="no connection; next try in"):
        await watched.embed_query("where?")
    assert moody.questions == asked
    moody.mood = None
    await watched.probe()
    assert moody.questions == asked + 1
    await watched.embed_query("where?")


async def test_text_that_gets_no_vector_is_not_the_providers_failure() -> None:
    moody = Moody()
    moody.mood = EmbeddingError("no vector for this question")
    watched = WatchedEmbedder(moody, AT_ONCE)
    await fail(watched, 9)
    assert watched.trouble is None


async def test_work_that_is_still_under_way_is_no_failure() -> None:
    watched = WatchedEmbedder(Moody(), AT_ONCE, is_busy=lambda: True)
    await fail(watched, 9)
    assert watched.trouble is None
