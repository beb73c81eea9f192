"""Is this model fit for search? A few questions and their answers, which a wrong pooling or quantisation confuses."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memoryd.embed.protocol import Embedder, Passage, Unembeddable

LENGTH_TOLERANCE: Final = 1e-3
ENGLISH_MISSES_MAX: Final = 1
"""Of eight; MiniLM misses none, MiniLM with the pooling of another family two."""

ENGLISH: Final = (
    ("Mac Studio gateway host", "the machine running the gateway"),
    ("how do I get my money back?", "Refunds are paid to the original card within ten days."),
    ("when is the dentist?", "Tooth check-up moved to Thursday at nine."),
    ("what does the cat eat", "Feed Minka half a tin of tuna in the morning."),
    ("the build is broken on main", "Compilation fails since yesterday's merge."),
    ("where do we go on holiday", "The flat in Lisbon is booked for the first week of August."),
    ("which database do we use", "All data is stored in PostgreSQL 16."),
    ("she is afraid of flying", "Anna takes the train because planes frighten her."),
)
CHINESE: Final = (
    ("我们什么时候交房租？", "每月五号之前要把租金转给房东。"),
    ("猫吃什么？", "早上给咪咪喂半罐金枪鱼。"),
    ("牙医约在什么时候", "周四九点去检查牙齿。"),
)


class Pair(Struct, frozen=True):
    """A question with its own answer, and how near the nearest answer to another question came."""

    language: str
    question: str
    answer: str
    cosine: float
    nearest_stranger: float

    @property
    def is_first(self) -> bool:
        return self.cosine > self.nearest_stranger


class Verification(Struct, frozen=True):
    """The verdict, the cosines behind it, and one sentence for people."""

    ok: bool
    pairs: tuple[Pair, ...]
    reason: str


async def verify(embedder: Embedder) -> Verification:
    """Embed known pairs; fit if at most one English answer in eight is outranked by a stranger's.

    Chinese pairs are measured too, but only reported: a model may be made for English alone.
    Raises what the embedder raises: EmbedderUnavailable, WorkerDied.
    """
    pairs: list[Pair] = []
    for language, texts in (("English", ENGLISH), ("Chinese", CHINESE)):
        questions = [await embedder.embed_query(question) for question, _ in texts]
        answers = await embedder.embed_documents([Passage(answer) for _, answer in texts])
        vectors = [answer for answer in answers if not isinstance(answer, Unembeddable)]
        if len(vectors) < len(texts):
            return Verification(False, tuple(pairs), f"the model gives no vector for a plain {language} sentence")
        if flaw := _flaw([*questions, *vectors], embedder.identity.dimensions):
            return Verification(False, tuple(pairs), flaw)
        pairs += _compare(language, texts, np.stack(questions) @ np.stack(vectors).T)
    return _judge(pairs)


def _flaw(vectors: Sequence[NDArray[np.float32]], dimensions: int) -> str:
    for vector in vectors:
        if vector.shape != (dimensions,):
            return f"a vector has the shape {vector.shape}, not ({dimensions},)"
        if not np.isfinite(vector).all() or abs(float(np.linalg.norm(vector)) - 1) > LENGTH_TOLERANCE:
            return "a vector is not of length 1"
    return ""


def _compare(language: str, texts: Sequence[tuple[str, str]], cosines: NDArray[np.float32]) -> list[Pair]:
    strangers = np.where(np.eye(len(texts), dtype=bool), -np.inf, cosines).max(axis=1)
    return [
        Pair(language, question, answer, float(cosines[row, row]), float(strangers[row]))
        for row, (question, answer) in enumerate(texts)
    ]


def _judge(pairs: Sequence[Pair]) -> Verification:
    english, chinese = ([pair for pair in pairs if pair.language == language] for language in ("English", "Chinese"))
    first = sum(pair.is_first for pair in english)
    ok = len(english) - first <= ENGLISH_MISSES_MAX
    tally = f"{first} of {len(english)} English paraphrases outrank every stranger"
    if not ok:
        reason = f"only {tally}: wrong pooling, wrong prompts, a bad quantisation, or no embedding model"
    elif all(pair.is_first for pair in chinese):
        reason = f"{tally}, and so do the Chinese ones"
    else:
        reason = f"{tally}; Chinese ones do not: for Chinese notes choose a multilingual model"
    return Verification(ok, tuple(pairs), reason)
