"""Changes proposed to a person: each edits a few lines of one file, and gives the reason in one sentence.

A proposal is withdrawn if a memory that it is based on is missing, hidden from some agents, or superseded.

Two kinds are inferred by rules: retained lines for a log that has none, and observations of recurring words. A sentence
is copied verbatim if it is self-contained: it names a known entity, is definite (has a verb of the list, a number, or
a date), and is no question, supposition, quotation or secret. An observation is based on experiences of several
days about one entity that share a word. It uses the first 3, 6, 12 … memories, so that it does not change until
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
from memoryd.domain.memories.edits import NoPlaceError, add_memories
from memoryd.domain.memories.entities import EntitySlug, slug_of
from memoryd.domain.memories.generated import BEGIN, END
from memoryd.domain.memories.kinds import GLOBAL, Kind, MemoryId, Network, short_id
from memoryd.domain.memories.line import RetainedLine, parse_line, render
from memoryd.domain.memories.reflect.pages import SharedMemories
from memoryd.domain.memories.sections import scoped_spans
from memoryd.domain.redaction import redact
from memoryd.domain.text.lines import encode_padded, tabulate
from memoryd.domain.text.markdown import front_matter_bytes
from memoryd.domain.text.structure import analyse
from memoryd.domain.text.words import is_unspaced, query_terms

ProposalId = NewType("ProposalId", str)
"""Twelve hexadecimal digits."""

ID_CHARS = 12
MAX_DIFF_CHARS = 8_000
"""Longest diff that a person can review at once."""
MAX_OPEN = 100
"""Most open proposals of a workspace; at this limit none are added."""


class ProposalKind(StrEnum):
    """The purpose of a proposal."""

    CORE_IN = "core-in"
    """A durable fact for `MEMORY.md`."""
    CORE_OUT = "core-out"
    """A line of `MEMORY.md` that a newer fact supersedes."""
    RETAIN = "retain"
    """A `## Retain` block for a log that has none."""
    OBSERVATION = "observation"
    """A recurring word in experiences."""
    CONTRADICTION = "contradiction"
    """A line that says the opposite of an opinion becomes evidence against it."""
    MARKERS = "markers"
    """A page that a person wrote gets a generated section."""


class ProposalState(StrEnum):
    """The status of a proposal."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    OUTDATED = "outdated"
    """Its file has changed, so that the diff no longer applies."""


class ProposedChange(Struct, frozen=True):
    """A proposed change; `memories` are those it is based on."""

    kind: ProposalKind
    path: RelativePath
    why: str
    diff: str
    memories: tuple[MemoryId, ...] = ()

    @property
    def id(self) -> ProposalId:
        """Return its id, a hash of the changed lines only, so that edits elsewhere in the file do not affect it."""
        named = "\0".join((self.kind, self.path, changed_lines(self.diff)))
        return ProposalId(sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:ID_CHARS])


class Proposal(Struct, frozen=True):
    """A change in the queue; `run` is the run that first proposed it."""

    id: ProposalId
    run: str
    change: ProposedChange
    state: ProposalState
    made_at: datetime
    decided_at: datetime | None = None


def select_proposals(
    changes: Iterable[ProposedChange], known: Mapping[ProposalId, ProposalState]
) -> tuple[ProposedChange, ...]:
    """Return the changes to add to the queue, including those to reopen.

    A decided change is not proposed again. A change too large to review is not proposed.
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
"""Most lines inferred from one log."""
MAX_SENTENCES = 2_000
"""Most sentences of one log that are examined."""
MIN_CHARS, MIN_CHARS_UNSPACED, MAX_CHARS = 25, 8, 300
MAX_NAMES = 3
"""Most entities of one line."""
_ENDS = expression(r"(?<=[.!?])[ \t]+(?=[\"“‘A-Z0-9@\u3040-\u9fff])|(?<=[。！？])")
_RETAIN = expression(r"(?im)^ {0,3}#{2,6}[ \t]+retain\b")
_MARK = expression(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_NO_PROSE = expression(r"[ \t]*(?:[>|<#]|!\[|https?://|\w+:[ \t]*$)")
_DEPENDENT_START = expression(
    r"(?i)(?:it|he|she|they|this|that|these|those|there|and|but|so|then|also|or|which|because|however|still|again"
    r"|such|here)\b|[它他她这那但所然并还]"
)
"""Beginnings of a sentence that refers to the previous one."""
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
"""A capitalised word after another word: in English, a name."""
_NO_NAMES = frozenset({"Internet", "English", "German", "Chinese", "The", "This", *day_name, *month_name})

NamesIn = Callable[[str], Collection[str]]
"""Returns the entities that a sentence names, as written, in order."""


def recurring_names(texts: Iterable[str]) -> frozenset[str]:
    """Return capitalised words that occur within sentences in more than one of the logs."""
    named = ({name for sentence in sentences_of(text) for name in _NAME.findall(sentence)} for text in texts)
    counts = Counter(name for names in named for name in names)
    return frozenset(name for name, count in counts.items() if count > 1 and name not in _NO_NAMES)


def has_retain(text: str) -> bool:
    """Return whether a log has a Retain section, even an empty one: then nothing is inferred from it."""
    return _RETAIN.search(text) is not None


def inferred_lines(
    text: str,
    names_in: NamesIn,
    known: Collection[MemoryId] = (),
    is_forgotten: Callable[[RetainedLine], bool] = lambda _: False,
) -> tuple[RetainedLine, ...]:
    """Return the lines that may be retained from a log, in its order; `known` ones are stated elsewhere."""
    candidates: dict[MemoryId, tuple[int, int, RetainedLine]] = {}
    for at, sentence in enumerate(islice(sentences_of(text), MAX_SENTENCES)):
        line = _line(sentence, names_in)
        if line is not None and line.id not in known and not is_forgotten(line):
            candidates.setdefault(line.id, (-_score(sentence, line), at, line))
    best = sorted(candidates.values(), key=lambda candidate: candidate[:2])[:MAX_LINES]
    return tuple(line for _, _, line in sorted(best, key=lambda candidate: candidate[1]))


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of prose and bullets, without headings, code, quotations, tables and other scopes."""
    sentences = (sentence.strip() for paragraph in _paragraphs(text) for sentence in _ENDS.split(paragraph))
    yield from filter(None, sentences)


def _paragraphs(text: str) -> Iterator[str]:
    data = encode_padded(text)
    structure = analyse(tabulate(data), front_matter_bytes(data))
    scoped = [span for span in scoped_spans(data) if span.scope != GLOBAL]
    # text for one agent must not be proposed as a memory for all
    scoped_lines = {line - 1 for span in scoped for line in range(span.first_line, span.last_line + 1)}
    paragraph: list[str] = []
    last = -2
    for row in range(len(structure.lines.starts)):
        if structure.code[row] or structure.levels[row]:
            continue
        line = structure.lines.line(row).decode("utf-8", "replace").rstrip("\r\n")
        number = int(structure.lines.numbers[row])
        is_new = number != last + 1 or _MARK.match(line) is not None
        if paragraph and is_new:
            yield " ".join(paragraph)
            paragraph = []
        if number not in scoped_lines and not _NO_PROSE.match(line):
            paragraph.append(_MARK.sub("", line, count=1).strip())
            last = number
    if paragraph:
        yield " ".join(paragraph)


def _line(sentence: str, names_in: NamesIn) -> RetainedLine | None:
    shortest = MIN_CHARS_UNSPACED if _UNSPACED.search(sentence) else MIN_CHARS
    if not shortest <= len(sentence) <= MAX_CHARS or _DEPENDENT_START.match(sentence) or _SUPPOSED.search(sentence):
        return None
    kinds = ((_PREFERS, Kind.OPINION), (_DID, Kind.EXPERIENCE), (_DEFINITE, Kind.WORLD))
    kind = next((kind for pattern, kind in kinds if pattern.search(sentence)), None)
    if kind is None or redact(sentence) != sentence:
        return None
    names = tuple(names_in(sentence))[:MAX_NAMES]
    return RetainedLine(kind, sentence, names) if names else None


def _score(sentence: str, line: RetainedLine) -> int:
    has_number = any(map(str.isdigit, sentence))
    return 2 * bool(_STRONG.search(sentence)) + has_number + len(line.entities) + (line.kind is not Kind.WORLD)


MIN_DAYS = 3
"""Least number of days on which a word must occur to be recurring."""
MAX_OBSERVATIONS = 5
"""Most observations of one run."""
MAX_TERMS = 40
"""Most words of a memory that are examined."""
MAX_IDS = 12
"""Most memories named by an observation."""
_MIN_LETTERS = 4
"""Least letters of a significant word; two in a script without spaces."""


class Recurrence(Struct, frozen=True):
    """A recurring word: memories of different days about an entity that share it, oldest first."""

    entity: str
    word: str
    memories: tuple[Memory, ...]

    @property
    def line(self) -> RetainedLine:
        """Return the observation as a line: it names the days, and the memories that it is based on."""
        days = ", ".join(memory.first_recorded.isoformat() for memory in self.memories)
        ids = ", ".join(short_id(memory.id) for memory in self.memories)
        text = f"“{self.word}” came up on {len(self.memories)} days: {days} (rests on {ids})"
        return RetainedLine(Kind.OBSERVATION, text, (self.entity,))


def recurrences(
    memories: Iterable[Memory], since: date, is_common: Callable[[str], bool] = lambda _: False
) -> tuple[Recurrence, ...]:
    """Return recurring words, at most one for each entity, with a memory recorded since a day.

    Of several words, the one with the most days is used, and of these the longest. `is_common` recognises words that
    are too frequent to be meaningful.
    """
    by_entity: defaultdict[EntitySlug, defaultdict[str, dict[date, Memory]]] = defaultdict(lambda: defaultdict(dict))
    names: dict[EntitySlug, str] = {}
    for memory in sorted(memories, key=lambda memory: (memory.first_recorded, memory.id)):
        if memory.line.network is not Network.EXPERIENCE:
            continue
        words = _words(memory, is_common)
        for name in memory.line.entities:
            names.setdefault(slug_of(name), name)
        for slug in memory.slugs:
            for word in words:
                by_entity[slug][word].setdefault(memory.first_recorded, memory)
    candidates = (_of_entity(names[slug], words, since) for slug, words in sorted(by_entity.items()))
    ranked = sorted(filter(None, candidates), key=lambda candidate: (-len(candidate.memories), candidate.entity))
    return tuple(ranked[:MAX_OBSERVATIONS])


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
        if term not in names
        and not term[0].isdigit()
        and not is_common(term)
        and len(term) >= (2 if is_unspaced(term) else _MIN_LETTERS)
    ]


MAX_NOTE_CHARS = 2_000_000
"""Longest note that is compared line by line."""


def observation_change(recurrence: Recurrence, text: str) -> ProposedChange | None:
    """Propose an observation, to be added after its last memory; None if that line has moved."""
    last = recurrence.memories[-1]
    source = last.sources[-1]
    edited = _with_bullet(text, source, last.id, render(recurrence.line), is_after=True)
    why = f"“{recurrence.word}” came up on {len(recurrence.memories)} days with {recurrence.entity}."
    return _change(
        ProposalKind.OBSERVATION, source.path, why, text, edited, tuple(memory.id for memory in recurrence.memories)
    )


def source_of(evidence: Memory, day: date) -> MemorySource:
    """Return the line of a memory on a day; its oldest line if none is of that day."""
    return next((source for source in reversed(evidence.sources) if source.day == day), evidence.sources[-1])


def contradiction_change(opinion: Memory, evidence: Memory, day: date, text: str) -> ProposedChange | None:
    """Propose to mark a line as evidence against an opinion that it contradicts; None if the line has moved."""
    source = source_of(evidence, day)
    attributes = source.line.attributes
    named = short_id(opinion.id)
    if named in attributes.contradicts:
        return None
    line = replace(source.line, attributes=replace(attributes, contradicts=(*attributes.contradicts, named)))
    edited = _with_bullet(text, source, evidence.id, render(line), is_after=False)
    why = f"This line seems to say the opposite of the opinion {named}, and is to count against it."
    return _change(ProposalKind.CONTRADICTION, source.path, why, text, edited, (evidence.id, opinion.id))


def retain_change(path: RelativePath, lines: tuple[RetainedLine, ...], text: str) -> ProposedChange | None:
    """Propose a `## Retain` block for a log; None if there are no lines, or the log has no place for a block."""
    if not lines or len(text) > MAX_NOTE_CHARS:
        return None
    body = text.rstrip("\n")
    try:
        edited = add_memories(f"{body}\n" if body else "", path, lines).text
    except NoPlaceError:
        return None
    count = "one sentence" if len(lines) == 1 else f"{len(lines)} sentences"
    why = f"This log has no Retain section, and {count} of it may be worth remembering."
    return _change(ProposalKind.RETAIN, path, why, text, edited, tuple(line.id for line in lines))


def markers_change(path: RelativePath, text: str) -> ProposedChange | None:
    """Propose an empty generated section at the end of a page that a person wrote; the next run fills it."""
    why = f"Two marker lines at the end of {path}, between which memoryd may write what is known."
    body = text.rstrip("\n")
    edited = f"{body}\n\n{BEGIN}\n{END}\n" if body else f"{BEGIN}\n{END}\n"
    return _change(ProposalKind.MARKERS, path, why, text, edited)


def _change(
    kind: ProposalKind, path: str, why: str, before: str, after: str | None, memories: tuple[MemoryId, ...] = ()
) -> ProposedChange | None:
    if after is None or len(before) > MAX_NOTE_CHARS:
        return None
    diff = unified_diff(path, before, after)
    return ProposedChange(kind, RelativePath(path), why, diff, memories) if diff else None


def _with_bullet(text: str, source: MemorySource, memory: MemoryId, bullet: str, *, is_after: bool) -> str | None:
    """Return a text with a bullet after a line or in its place; None if the line no longer states the memory."""
    lines, first = text.split("\n"), source.start_line - 1
    stated = parse_line("\n".join(lines[first : source.end_line]), default_kind=source.line.kind)
    # the file may have changed since it was indexed
    if not isinstance(stated, RetainedLine) or stated.id != memory:
        return None
    return "\n".join([*lines[: source.end_line if is_after else first], bullet, *lines[source.end_line :]])


WITHDRAWN = "What it rests on is deleted, superseded, or no longer visible to all."
"""The reason for outdated proposals without another reason."""


def is_still_supported(change: ProposedChange, shared: SharedMemories) -> bool:
    """Return whether a change may still be proposed and accepted, by the memories that it is based on."""
    match change.kind:
        case ProposalKind.CORE_IN | ProposalKind.CORE_OUT:
            # for a stale line only the newer fact must be current
            current = change.memories[:1]
            return all(memory in shared.memories and memory not in shared.outdated for memory in current)
        case ProposalKind.OBSERVATION | ProposalKind.CONTRADICTION:
            return all(memory in shared.memories for memory in change.memories)
        case ProposalKind.RETAIN | ProposalKind.MARKERS:
            # the retained lines are not in any file yet, and markers name no memory
            return True
