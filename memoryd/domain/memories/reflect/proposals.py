"""Changes that wait for a person: each edits a few lines of one file, and says in one sentence why.

A proposal is withdrawn when what it rests on is missing, hidden from some agents, or superseded.

Two kinds are inferred by rules: retained lines for a log that has none, and observations of what recurred. A sentence
is taken word for word if it is self-contained: it names a known entity, says something definite (a verb of the list, a
number, a date), and is no question, supposition, quotation or secret. An observation is made of experiences of several
days about one entity that share a word. It rests on the first 3, 6, 12 … memories, so that it stays the same until
there are twice as many.
"""

from calendar import day_name, month_name
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import date, datetime
from enum import StrEnum
from hashlib import sha256
from itertools import islice
from typing import NewType

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Memory, MemorySource
from memoryd.domain.memories.changes.diffs import changed_lines, unified_diff
from memoryd.domain.memories.edits import NoPlaceError, retained_in
from memoryd.domain.memories.entities import EntitySlug, slug_of
from memoryd.domain.memories.generated import BEGIN, END
from memoryd.domain.memories.kinds import GLOBAL, Kind, MemoryId, Network, short_id
from memoryd.domain.memories.line import RetainedLine, parse_line, render
from memoryd.domain.memories.reflect.pages import SharedMemories
from memoryd.domain.memories.sections import scoped_spans
from memoryd.domain.redaction import redacted
from memoryd.domain.text.lines import padded, tabulate
from memoryd.domain.text.markdown import front_matter_bytes
from memoryd.domain.text.structure import analyse
from memoryd.domain.text.words import is_unspaced, query_terms

ProposalId = NewType("ProposalId", str)
"""Twelve hexadecimal digits."""

ID_CHARS = 12
MAX_DIFF_CHARS = 8_000
"""What a person reads in one go."""
MAX_OPEN = 100
"""Most open proposals of a workspace; with so many, no more are made."""


class ProposalKind(StrEnum):
    """What a proposal is for."""

    CORE_IN = "core-in"
    """A durable fact for `MEMORY.md`."""
    CORE_OUT = "core-out"
    """A line of `MEMORY.md` that a newer fact supersedes."""
    RETAIN = "retain"
    """A `## Retain` block for a log that has none."""
    OBSERVATION = "observation"
    """What recurred."""
    CONTRADICTION = "contradiction"
    """A line that says the opposite of an opinion is to count against it."""
    MARKERS = "markers"
    """A page that a person wrote gets a part that is kept up to date."""


class ProposalState(StrEnum):
    """What became of a proposal."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    OUTDATED = "outdated"
    """Its file has changed, and it no longer says where its lines go."""


class ProposedChange(Struct, frozen=True):
    """What is proposed; `memories` are those it rests on."""

    kind: ProposalKind
    path: RelativePath
    why: str
    diff: str
    memories: tuple[MemoryId, ...] = ()

    @property
    def id(self) -> ProposalId:
        """Return its id, of the lines that change alone: it outlives an edit elsewhere in the file."""
        named = "\0".join((self.kind, self.path, changed_lines(self.diff)))
        return ProposalId(sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:ID_CHARS])


class Proposal(Struct, frozen=True):
    """A change in the queue; `run` is the one that made it first."""

    id: ProposalId
    run: str
    change: ProposedChange
    state: ProposalState
    made_at: datetime
    decided_at: datetime | None = None


def to_propose(
    changes: Iterable[ProposedChange], known: Mapping[ProposalId, ProposalState]
) -> tuple[ProposedChange, ...]:
    """Return the changes that are to be put into the queue, with those that are to be opened again.

    What was decided stays so: a change is proposed once. One too large to be read is not proposed.
    """
    room = MAX_OPEN - sum(state is ProposalState.OPEN for state in known.values())
    chosen: dict[ProposalId, ProposedChange] = {}
    for change in changes:
        if not change.diff or len(change.diff) > MAX_DIFF_CHARS or change.id in chosen:
            continue
        if known.get(change.id, ProposalState.OUTDATED) is ProposalState.OUTDATED and len(chosen) < room:
            chosen[change.id] = change
    return tuple(chosen.values())


MAX_LINES = 5
"""Of one log."""
MAX_SENTENCES = 2_000
"""Of one log that are looked at."""
MIN_CHARS, MIN_CHARS_UNSPACED, MAX_CHARS = 25, 8, 300
MAX_NAMES = 3
"""Entities of one line."""
_ENDS = expression(r"(?<=[.!?])[ \t]+(?=[\"“‘A-Z0-9@\u3040-\u9fff])|(?<=[。！？])")
_RETAIN = expression(r"(?im)^ {0,3}#{2,6}[ \t]+retain\b")
_MARK = expression(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_NO_PROSE = expression(r"[ \t]*(?:[>|<#]|!\[|https?://|\w+:[ \t]*$)")
_LEANS = expression(
    r"(?i)(?:it|he|she|they|this|that|these|those|there|and|but|so|then|also|or|which|because|however|still|again"
    r"|such|here)\b|[它他她这那但所然并还]"
)
"""How a sentence begins that leans on the one before it."""
_SUPPOSED = expression(
    r"(?i)\b(?:may|might|maybe|perhaps|probably|if|would|could|should|todo|tbd|wonder\w*|guess\w*|unless|whether"
    r"|plan(?:s|ning)? to|want(?:s)? to|going to)\b|[?？]|可能|也许|如果|大概|或许|是否|要不要|打算|想要|应该"
)
_PREFERS = expression(r"(?i)\b(?:prefers?|likes?|loves?|hates?|dislikes?|favou?rs?)\b|喜欢|讨厌|偏好|更愿意")
_DID = expression(
    r"(?:\b(?:I|We) (?:have )?(?:[a-z]{1,12}ly )?(?:[a-z]{2,20}ed|made|set|wrote|found|built|ran|put|took|sent|met|went"
    r"|got|gave|bought|sold|began|cut|chose|kept|left|lost|paid|told|won)\b)|(?:我们?|咱们)[^。！？]{0,40}了"
)
_DEFINITE = expression(
    r"(?i)\b(?:is|are|has|have|decided|agreed|moved|lives?|works?|uses?|runs?|starts?|costs?|owns?|became|joined|left"
    r"|changed|fixed|switched|replaced|released|shipped|bought|sold|married|born|hired|signed|opened|closed|allergic"
    r"|was|were)\b|[0-9]|是|在|住|有|决定|改为|改成|换成|修复|搬|买|用|上线|发布|过敏|同意|叫"
)
_UNSPACED = expression(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_STRONG = expression(
    r"(?i)\b(?:decided|agreed|moved|switched|replaced|fixed|prefers?|allergic|released|signed|joined|lives?|works?)\b"
    r"|决定|改为|改成|换成|修复|喜欢|过敏|住在|搬到"
)

_NAME = expression(r"(?<=[a-z,;] )[A-Z][a-z]{2,20}\b(?!['’]?[A-Z])")
"""A word with a capital behind another word: in English, a name."""
_NO_NAMES = frozenset({"Internet", "English", "German", "Chinese", "The", "This", *day_name, *month_name})

NamesIn = Callable[[str], Collection[str]]
"""The entities that a sentence names, as they are written, in order."""


def recurring_names(texts: Iterable[str]) -> frozenset[str]:
    """Return words that are written as names, within sentences, in more than one of the logs of some days."""
    named = ({name for one in sentences_of(text) for name in _NAME.findall(one)} for text in texts)
    logs = Counter(name for names in named for name in names)
    return frozenset(name for name, count in logs.items() if count > 1 and name not in _NO_NAMES)


def has_retain(text: str) -> bool:
    """Tell whether a log has a Retain section, be it empty: then nothing is inferred for it."""
    return _RETAIN.search(text) is not None


def inferred_lines(
    text: str,
    names_in: NamesIn,
    known: Collection[MemoryId] = (),
    is_forgotten: Callable[[RetainedLine], bool] = lambda _: False,
) -> tuple[RetainedLine, ...]:
    """Return what may be retained of a log, in its order there; `known` is stated elsewhere."""
    candidates: dict[MemoryId, tuple[int, int, RetainedLine]] = {}
    for at, sentence in enumerate(islice(sentences_of(text), MAX_SENTENCES)):
        line = _line(sentence, names_in)
        if line is not None and line.id not in known and not is_forgotten(line):
            candidates.setdefault(line.id, (-_score(sentence, line), at, line))
    best = sorted(candidates.values(), key=lambda one: one[:2])[:MAX_LINES]
    return tuple(line for _, _, line in sorted(best, key=lambda one: one[1]))


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of prose and bullets: of no heading, code, quotation, table, front matter or other scope."""
    sentences = (sentence.strip() for paragraph in _paragraphs(text) for sentence in _ENDS.split(paragraph))
    yield from filter(None, sentences)


def _paragraphs(text: str) -> Iterator[str]:
    data = padded(text)
    structure = analyse(tabulate(data), front_matter_bytes(data))
    scoped = [span for span in scoped_spans(data) if span.scope != GLOBAL]
    # what is for one agent must not be proposed as a memory of all
    others = {line - 1 for span in scoped for line in range(span.first_line, span.last_line + 1)}
    gathered: list[str] = []
    last = -2
    for row in range(len(structure.lines.starts)):
        if structure.code[row] or structure.levels[row]:
            continue
        line = structure.lines.line(row).decode("utf-8", "replace").rstrip("\r\n")
        number = int(structure.lines.numbers[row])
        is_new = number != last + 1 or _MARK.match(line) is not None
        if gathered and is_new:
            yield " ".join(gathered)
            gathered = []
        if number not in others and not _NO_PROSE.match(line):
            gathered.append(_MARK.sub("", line, count=1).strip())
            last = number
    if gathered:
        yield " ".join(gathered)


def _line(sentence: str, names_in: NamesIn) -> RetainedLine | None:
    shortest = MIN_CHARS_UNSPACED if _UNSPACED.search(sentence) else MIN_CHARS
    if not shortest <= len(sentence) <= MAX_CHARS or _LEANS.match(sentence) or _SUPPOSED.search(sentence):
        return None
    kinds = ((_PREFERS, Kind.OPINION), (_DID, Kind.EXPERIENCE), (_DEFINITE, Kind.WORLD))
    kind = next((kind for pattern, kind in kinds if pattern.search(sentence)), None)
    if kind is None or redacted(sentence) != sentence:
        return None
    names = tuple(names_in(sentence))[:MAX_NAMES]
    return RetainedLine(kind, sentence, names) if names else None


def _score(sentence: str, line: RetainedLine) -> int:
    has_number = any(map(str.isdigit, sentence))
    return 2 * bool(_STRONG.search(sentence)) + has_number + len(line.entities) + (line.kind is not Kind.WORLD)


MIN_DAYS = 3
"""Days on which something must have happened before it recurs."""
MAX_OBSERVATIONS = 5
"""Of one run."""
MAX_TERMS = 40
"""Words of a memory that are looked at."""
MAX_IDS = 12
"""Memories that an observation names."""
_MIN_LETTERS = 4
"""Of a word that says what happened; two in a script without spaces."""


class Recurrence(Struct, frozen=True):
    """What recurred: memories of different days, the oldest first, about an entity, that share a word."""

    entity: str
    word: str
    memories: tuple[Memory, ...]

    @property
    def line(self) -> RetainedLine:
        """Return the observation as a line: it names the days, and the memories that it rests on."""
        days = ", ".join(one.first_recorded.isoformat() for one in self.memories)
        ids = ", ".join(short_id(one.id) for one in self.memories)
        text = f"“{self.word}” came up on {len(self.memories)} days: {days} (rests on {ids})"
        return RetainedLine(Kind.OBSERVATION, text, (self.entity,))


def recurrences(
    memories: Iterable[Memory], since: date, is_common: Callable[[str], bool] = lambda _: False
) -> tuple[Recurrence, ...]:
    """Return what recurred, one for each entity at most, with something of it recorded since a day.

    Of several words the one of the most days counts, and of these the longest. `is_common` says which words are said
    of everything.
    """
    by_entity: defaultdict[EntitySlug, defaultdict[str, dict[date, Memory]]] = defaultdict(lambda: defaultdict(dict))
    names: dict[EntitySlug, str] = {}
    for memory in sorted(memories, key=lambda one: (one.first_recorded, one.id)):
        if memory.line.network is not Network.EXPERIENCE:
            continue
        words = _words(memory, is_common)
        for name in memory.line.entities:
            names.setdefault(slug_of(name), name)
        for slug in memory.slugs:
            for word in words:
                by_entity[slug][word].setdefault(memory.first_recorded, memory)
    found = [_of_entity(names[slug], words, since) for slug, words in sorted(by_entity.items())]
    return tuple(sorted(filter(None, found), key=lambda one: (-len(one.memories), one.entity))[:MAX_OBSERVATIONS])


def _of_entity(name: str, words: dict[str, dict[date, Memory]], since: date) -> Recurrence | None:
    ranked = sorted(words.items(), key=lambda item: (-len(item[1]), -len(item[0]), item[0]))
    word, days = ranked[0] if ranked else ("", {})
    count = MIN_DAYS
    while count * 2 <= min(len(days), MAX_IDS):
        count *= 2
    memories = tuple(days.values())[:count]
    return None if len(days) < MIN_DAYS or memories[-1].recorded < since else Recurrence(name, word, memories)


def _words(memory: Memory, is_common: Callable[[str], bool]) -> list[str]:
    names = {term for name in memory.line.entities for term in query_terms(name)}
    return [
        term
        for term in query_terms(memory.text, limit=MAX_TERMS)
        if term not in names and not term.isdigit() and not is_common(term) and _says_something(term)
    ]


def _says_something(term: str) -> bool:
    return len(term) >= (2 if is_unspaced(term) else _MIN_LETTERS) and not term[0].isdigit()


MAX_NOTE_CHARS = 2_000_000
"""Of a note that is compared line by line."""


def observation_change(found: Recurrence, text: str) -> ProposedChange | None:
    """Propose an observation, behind the last of the memories that it rests on; None where that line has moved."""
    last = found.memories[-1]
    source = last.sources[-1]
    made = _with_bullet(text, source, last.id, render(found.line), is_behind=True)
    why = f"“{found.word}” came up on {len(found.memories)} days with {found.entity}."
    return _change(ProposalKind.OBSERVATION, source.path, why, text, made, tuple(one.id for one in found.memories))


def source_of(evidence: Memory, day: date) -> MemorySource:
    """Return the line by which a memory counts on a day; its oldest where none is of that day."""
    return next((source for source in reversed(evidence.sources) if source.day == day), evidence.sources[-1])


def contradiction_change(opinion: Memory, evidence: Memory, day: date, text: str) -> ProposedChange | None:
    """Propose that a line of a day which says the opposite of an opinion counts against it; None where it has moved."""
    source = source_of(evidence, day)
    given = source.line.attributes
    named = short_id(opinion.id)
    if named in given.contradicts:
        return None
    line = replace(source.line, attributes=replace(given, contradicts=(*given.contradicts, named)))
    made = _with_bullet(text, source, evidence.id, render(line), is_behind=False)
    why = f"This line seems to say the opposite of the opinion {named}, and is to count against it."
    return _change(ProposalKind.CONTRADICTION, source.path, why, text, made, (evidence.id, opinion.id))


def retain_change(path: RelativePath, lines: tuple[RetainedLine, ...], text: str) -> ProposedChange | None:
    """Propose a `## Retain` block for a log; None where there is nothing for it, or no place to be read as one."""
    if not lines or len(text) > MAX_NOTE_CHARS:
        return None
    body = text.rstrip("\n")
    try:
        made = retained_in(f"{body}\n" if body else "", path, lines).text
    except NoPlaceError:
        return None
    count = "one sentence" if len(lines) == 1 else f"{len(lines)} sentences"
    why = f"This log has no Retain section, and {count} of it may be worth remembering."
    return _change(ProposalKind.RETAIN, path, why, text, made, tuple(line.id for line in lines))


def markers_change(path: RelativePath, text: str) -> ProposedChange | None:
    """Propose a part that is kept up to date at the end of a page that a person wrote; the next run fills it."""
    why = f"Two marker lines at the end of {path}, between which memoryd may write what is known."
    body = text.rstrip("\n")
    made = f"{body}\n\n{BEGIN}\n{END}\n" if body else f"{BEGIN}\n{END}\n"
    return _change(ProposalKind.MARKERS, path, why, text, made)


def _change(
    kind: ProposalKind, path: str, why: str, before: str, after: str | None, memories: tuple[MemoryId, ...] = ()
) -> ProposedChange | None:
    if after is None or len(before) > MAX_NOTE_CHARS:
        return None
    diff = unified_diff(path, before, after)
    return ProposedChange(kind, RelativePath(path), why, diff, memories) if diff else None


def _with_bullet(text: str, source: MemorySource, memory: MemoryId, bullet: str, *, is_behind: bool) -> str | None:
    """Return a text with a bullet behind a line or in its place; None where it does not state the memory any more."""
    lines, first = text.split("\n"), source.start_line - 1
    stated = parse_line("\n".join(lines[first : source.end_line]), default_kind=source.line.kind)
    # the file may have changed since it was indexed
    if not isinstance(stated, RetainedLine) or stated.id != memory:
        return None
    return "\n".join([*lines[: source.end_line if is_behind else first], bullet, *lines[source.end_line :]])


WITHDRAWN = "What it rests on is gone, is superseded, or may not be told to all any more."
"""Why a proposal is outdated of which no other word is kept."""


def still_rests(change: ProposedChange, shared: SharedMemories) -> bool:
    """Tell whether a change may still be proposed and accepted, by the memories that it rests on."""
    match change.kind:
        case ProposalKind.CORE_IN | ProposalKind.CORE_OUT:
            # of a stale line only the newer fact must be current
            current = change.memories[:1]
            return all(one in shared.memories and one not in shared.outdated for one in current)
        case ProposalKind.OBSERVATION | ProposalKind.CONTRADICTION:
            return all(one in shared.memories for one in change.memories)
        case ProposalKind.RETAIN | ProposalKind.MARKERS:
            # the lines of the one are nowhere yet, and the other names no memory
            return True
