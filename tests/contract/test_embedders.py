"""The contract of every embedder, tested with the fake and with llama.cpp and the starter model."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from memoryd.domain.vector import Vector
from memoryd.embed.local.local_model import LlamaWorker
from memoryd.embed.protocol import Embedder, Passage, Unembeddable
from memoryd.errors import EmbedderUnavailable, EmbeddingError
from tests.contract.background import in_background
from tests.fakes import FakeEmbedder

NASTY = [
    "a",
    "\0",
    "😀" * 500,
    "<|im_start|>[CLS][SEP]",
    "word " * 5000,
    "\ud800",
    "x" * 20_000,
    "\n\t\r",
    "海边的木屋",
]


@pytest.fixture(params=["fake", "llama"])
async def embedder(request: pytest.FixtureRequest, starter_model: Path) -> AsyncIterator[Embedder]:
    if request.param == "fake":
        yield FakeEmbedder()
        return
    worker = llama(starter_model)
    async with in_background(worker.run()):
        yield worker


def llama(model: Path) -> LlamaWorker:
    return LlamaWorker.of(model, idle_unload=timedelta(minutes=5), query_timeout=timedelta(seconds=30))


def assert_is_vector(vector: Vector | Unembeddable, embedder: Embedder) -> None:
    assert not isinstance(vector, Unembeddable)
    assert vector.dtype == np.float32
    assert vector.shape == (embedder.identity.dimensions,)
    assert np.isfinite(vector).all()
    assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-6)


async def test_question_gets_a_unit_vector(embedder: Embedder) -> None:
    assert_is_vector(await embedder.embed_query("which port does the gateway use"), embedder)


async def test_batch_is_answered_in_order(embedder: Embedder) -> None:
    texts = ["the gateway is down", "bread and butter", "海边的木屋", "the gateway is down"]
    together = await embedder.embed_documents([Passage(text) for text in texts])
    assert len(together) == len(texts)
    for text, vector in zip(texts, together, strict=True):
        assert_is_vector(vector, embedder)
        (alone,) = await embedder.embed_documents([Passage(text)])
        assert isinstance(alone, np.ndarray)
        assert isinstance(vector, np.ndarray)
        assert float(alone @ vector) == pytest.approx(1, abs=1e-3)


async def test_same_text_gets_the_same_vector(embedder: Embedder) -> None:
    first, second = await embedder.embed_query("rent"), await embedder.embed_query("rent")
    assert np.allclose(first, second, atol=1e-4)


async def test_text_with_shared_words_is_nearer(embedder: Embedder) -> None:
    question = await embedder.embed_query("the gateway host")
    near, far = await embedder.embed_documents([Passage("the gateway host is alder"), Passage("sourdough loaf")])
    assert isinstance(near, np.ndarray)
    assert isinstance(far, np.ndarray)
    assert float(question @ near) > float(question @ far)


async def test_empty_batch_gives_an_empty_list(embedder: Embedder) -> None:
    assert await embedder.embed_documents([]) == []


async def test_blank_text_is_rejected_and_the_rest_is_not(embedder: Embedder) -> None:
    first, blank, last = await embedder.embed_documents([Passage("one"), Passage(" \n"), Passage("two")])
    assert_is_vector(first, embedder)
    assert isinstance(blank, Unembeddable)
    assert blank.reason
    assert_is_vector(last, embedder)


async def test_empty_question_has_no_vector(embedder: Embedder) -> None:
    with pytest.raises(EmbeddingError):
        await embedder.embed_query("  ")


async def test_nasty_texts_are_answered_without_harm(embedder: Embedder) -> None:
    for text, answer in zip(NASTY, await embedder.embed_documents([Passage(text) for text in NASTY]), strict=True):
        if not isinstance(answer, Unembeddable):
            assert_is_vector(answer, embedder)
        else:
            assert answer.reason, text
    assert_is_vector(await embedder.embed_query("still here"), embedder)


async def test_concurrent_questions_and_batches_get_their_own_answers(embedder: Embedder) -> None:
    texts = [f"text number {number}" for number in range(12)]
    alone = [await embedder.embed_query(text) for text in texts]
    batch = embedder.embed_documents([Passage(f"filler {number} " * 40) for number in range(8)])
    found = await asyncio.gather(batch, *(embedder.embed_query(text) for text in texts))
    for first, second in zip(alone, found[1:], strict=True):
        assert isinstance(second, np.ndarray)
        assert float(first @ second) == pytest.approx(1, abs=1e-3)


async def test_identity_names_the_space(embedder: Embedder) -> None:
    assert embedder.identity.fingerprint == embedder.identity.fingerprint
    assert len(embedder.identity.fingerprint) == 16
    assert embedder.identity.dimensions > 0


async def test_unavailable_embedder_raises(starter_model: Path) -> None:
    worker = llama(starter_model)
    async with in_background(worker.run()):
        await worker.embed_query("hello")
    for gone in (worker, FakeEmbedder(is_down=True)):
        with pytest.raises(EmbedderUnavailable):
            await gone.embed_query("hello")
        with pytest.raises(EmbedderUnavailable):
            await gone.embed_documents([Passage("hello")])
