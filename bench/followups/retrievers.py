"""Six ways to choose turns for a message: what the store does, and five that it is held against.

All look at the same stored turns and give at most five. `sequence` is `QaStore.find_turns` with what is near in
meaning, as the context of a turn asks it, `words` the same where there are no vectors. `single` takes the five
turns that score best alone by the score of the store itself, in whatever session; `BM25` the same by Okapi BM25
(k1 = 1.2, b = 0.75) over the keywords of each question and kept answer; `BM25 and answers` over those of all answers,
also of those that the store did not keep; `latest` the last five of the current session.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest
from pathlib import Path

from msgspec.structs import replace

from bench.followups.followup_set import Followup, Place, said
from bench.followups.meaning import near_by_message
from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import TURNS
from memoryd.domain.sessions.making_turns import answer_words, message_keys
from memoryd.domain.sessions.sequences import NOTHING_SIMILAR, IndexedTurns, SimilarTurns
from memoryd.domain.sessions.topics import keywords
from memoryd.domain.sessions.turns import Session, Turn
from memoryd.search.ranking import commonness
from memoryd.sessions.qa_store import QaStore

AGENT = "main"
_K1, _B = 1.2, 0.75

Retriever = Callable[[Followup], frozenset[Place]]


def retrievers(workspace: Path, model: Path) -> dict[str, Retriever]:
    """Store all turns in files below a workspace; return the ways to look them up, by name."""
    store = filled(workspace)
    near = near_by_message(store, AGENT, model, workspace)
    stored = [store.sessions.read(SessionId(name), agent=AGENT) for name in dict.fromkeys(name for name, _ in said())]
    turns = {(str(session.id), turn.seq): turn for session in stored for turn in session.turns}
    answers = {place: raw.answer for place, (_, raw) in zip(turns, said(), strict=True)}
    return {
        "sequence": lambda one: _in_sequence(store, one, near[one.id]),
        "words": lambda one: _in_sequence(store, one, NOTHING_SIMILAR),
        "single": _single(stored),
        "BM25": _bm25({place: _words(turn, turn.answer) for place, turn in turns.items()}),
        "BM25 and answers": _bm25({place: _words(turn, answers[place]) for place, turn in turns.items()}),
        "latest": lambda one: _latest(store, one),
    }


def filled(workspace: Path) -> QaStore:
    """Return a store with all turns of the set, which lie below `workspace`."""
    store = QaStore(workspace, commonness=commonness)
    store.sessions.open()
    for session, raw in said():
        store.turns.append(session, raw, agent=AGENT)
    return store


def _in_sequence(store: QaStore, one: Followup, near: SimilarTurns) -> frozenset[Place]:
    found = store.find_turns(one.message, agent=AGENT, current=one.current, near=near)
    return frozenset((str(found.choice.session), turn.seq) for turn in found.turns)


def _latest(store: QaStore, one: Followup) -> frozenset[Place]:
    found = store.find_turns(None, agent=AGENT, current=one.current)
    return frozenset((str(found.choice.session), turn.seq) for turn in found.turns)


def _single(stored: Sequence[Session]) -> Retriever:
    """Look turns up alone: each is put into the index of the store as a session of its own."""
    index = IndexedTurns(commonness)
    places: dict[SessionId, Place] = {}
    for session in stored:
        for turn in session.turns:
            name = SessionId(f"{session.id} {turn.seq}")
            places[name] = session.id, turn.seq
            index.put(replace(session, id=name, turns=(turn,)))

    def found(one: Followup) -> frozenset[Place]:
        matches = index.matches(message_keys(one.message, commonness), limit=TURNS)
        return frozenset(places[match.session] for match in matches)

    return found


def _bm25(words: Mapping[Place, Sequence[str]]) -> Retriever:
    texts = {place: Counter(own) for place, own in words.items()}
    mean = sum(text.total() for text in texts.values()) / len(texts)
    holders = Counter(word for text in texts.values() for word in text)

    def score(text: Counter[str], words: Sequence[str]) -> float:
        length = _K1 * (1 - _B + _B * text.total() / mean)
        rare = {word: math.log(1 + (len(texts) - holders[word] + 0.5) / (holders[word] + 0.5)) for word in words}
        return sum(rare[word] * text[word] * (_K1 + 1) / (text[word] + length) for word in words)

    def found(one: Followup) -> frozenset[Place]:
        words = keywords(one.message, commonness)
        scores = {place: score(text, words) for place, text in texts.items()}
        best = nlargest(TURNS, enumerate(scores), key=lambda one: (scores[one[1]], one[0]))
        return frozenset(place for _, place in best if scores[place] > 0)

    return found


def _words(turn: Turn, answer: str | None) -> tuple[str, ...]:
    return turn.tokens + (answer_words(answer, commonness) if answer else ())
