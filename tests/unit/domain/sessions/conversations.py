"""Random sessions, which another program may have written."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import accumulate

from hypothesis import strategies as st
from msgspec.structs import replace

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import QaDocument, SessionStub, TurnMark
from memoryd.domain.sessions.topics import keywords, simhash, topics
from memoryd.domain.sessions.turns import Session, Turn

BEGUN = datetime(2026, 1, 30, 18, 16, tzinfo=UTC)
TEXTS = st.text(max_size=12)
WORDS = st.text(min_size=1, max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=2,
)
EXTRA = st.dictionaries(TEXTS.map("x_{}".format), JSON, max_size=2)
TIMES = st.builds(
    lambda seconds, zone: datetime.fromtimestamp(seconds, zone),
    st.integers(0, 2**33) | st.floats(0, 2**33),
    st.sampled_from([UTC, timezone(timedelta(hours=8))]),
)
TURNS = st.builds(
    Turn,
    seq=st.integers(1, 9),
    question=TEXTS,
    timestamp=TIMES,
    answer=st.none() | TEXTS,
    significance=st.floats(0, 1),
    tokens=st.lists(WORDS, max_size=3).map(tuple),
    question_hash=st.sampled_from(["", "abc123", "def456", f"{7:016x}"]),
    topics=st.lists(WORDS, max_size=2).map(tuple),
    extra=EXTRA,
)


@st.composite
def numbered(draw: st.DrawFn) -> tuple[Turn, ...]:
    """Draw turns whose numbers rise, with gaps."""
    turns = draw(st.lists(TURNS, max_size=4))
    seqs = accumulate(turn.seq for turn in turns)
    return tuple(replace(turn, seq=seq) for turn, seq in zip(turns, seqs, strict=True))


SESSIONS = st.builds(
    Session,
    id=WORDS.map(SessionId),
    created=TIMES,
    turns=numbered(),
    agent=TEXTS,
    key=TEXTS,
    is_remembered=st.booleans(),
    extra=EXTRA,
)
MARKS = st.builds(
    TurnMark,
    seq=st.integers(1, 99),
    question_hash=st.sampled_from(["abc123", f"{9:016x}"]),
    topics=st.sets(WORDS, max_size=2).map(sorted).map(tuple),
)
STUBS = st.builds(
    SessionStub,
    session=st.builds(
        Session,
        id=WORDS.map(SessionId),
        created=TIMES,
        agent=TEXTS,
        key=TEXTS,
        is_remembered=st.booleans(),
        extra=EXTRA,
    ),
    file=TEXTS,
    turns=st.integers(0, 99),
    answers=st.integers(0, 99),
    last_activity=TIMES,
    marks=st.lists(MARKS, max_size=3, unique_by=lambda mark: mark.seq).map(
        lambda marks: tuple(sorted(marks, key=lambda mark: mark.seq))
    ),
)
DOCUMENTS = st.builds(
    QaDocument,
    entries=st.lists(
        SESSIONS | STUBS,
        max_size=3,
        unique_by=lambda entry: entry.session.id if isinstance(entry, SessionStub) else entry.id,
    ).map(tuple),
    extra=EXTRA,
    index_extra=EXTRA,
    metadata_extra=EXTRA,
)


def conversation(name: str, *questions: str, agent: str = "main") -> Session:
    """Return a session of questions a minute apart, with their keywords and hashes."""
    turns = []
    for at, question in enumerate(questions):
        words = keywords(question)
        turns.append(
            Turn(
                seq=at + 1,
                question=question,
                timestamp=BEGUN + timedelta(minutes=at),
                tokens=words,
                question_hash=simhash(words, question),
                topics=topics(question, None, words),
            )
        )
    return Session(SessionId(name), BEGUN, tuple(turns), agent=agent)
