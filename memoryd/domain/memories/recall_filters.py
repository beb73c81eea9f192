"""Which memories may answer: by visibility, time, entity and kind. Filters apply before ranking.

Each source is filtered separately: a memory may be stated twice, once within the days of the question and once outside.
A question that consists only of filters ("tell me about The Castle", "上周发生了什么") is bare: its words have no other
meaning, and the entities and days that it names answer it.
"""

from collections.abc import Collection, Iterable
from datetime import date

from msgspec import Struct

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.book import Book, Memory, MemorySource
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.kinds import Kind, MemoryId, Visibility, network_of
from memoryd.domain.memories.times.parsing import QueryDays
from memoryd.domain.memories.times.spans import DaySpan
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.text.words import STOP_WORDS, UNSPACED, UNSPACED_RUN, normalised

WORKSPACE = "workspace"
"""The value of a scope filter for memories without a scope."""


class RecallFilters(Struct, frozen=True, kw_only=True):
    """Filters of a recall: all given ones must match; days are inclusive. None and an empty scope match all.

    `entities` has the slugs of one entity, or an unknown slug. `as_of` selects what was valid on a day: as known then,
    or, with `known_by`, as known on that day. `known_by` alone filters by record time. `is_alone`: no other agent
    shares the workspace, so that memories without a scope are the agent's as well.
    """

    visibility: Visibility
    since: date | None = None
    until: date | None = None
    as_of: date | None = None
    known_by: date | None = None
    entities: frozenset[EntitySlug] | None = None
    kinds: frozenset[Kind] | None = None
    scope: str = ""
    is_alone: bool = True

    @property
    def is_historical(self) -> bool:
        """Whether an earlier state is recalled."""
        return self.as_of is not None or self.known_by is not None

    @property
    def has_days(self) -> bool:
        """Whether days matter, so that documents are filtered by theirs as well."""
        return self.is_historical or self.since is not None or self.until is not None

    @property
    def admits_passages(self) -> bool:
        """Whether passages may answer: they have no kind, entity or scope."""
        return self.admits_pages and self.entities is None

    @property
    def admits_pages(self) -> bool:
        """Whether pages of entities may answer: they have no kind or scope."""
        return self.kinds is None and self.scope in ("", WORKSPACE)

    def admits_entity(self, slug: EntitySlug) -> bool:
        """Return whether an entity matches the entity filter, if there is one."""
        return self.entities is None or slug in self.entities

    @property
    def picks_memories(self) -> bool:
        """Whether memories are filtered by anything but visibility."""
        return self.has_days or self.kinds is not None or self.entities is not None or bool(self.scope)

    def visible_sources(self, memory: Memory) -> tuple[MemorySource, ...]:
        """Return the visible sources of a memory at the time of `as_of` and `known_by`, newest first."""
        if not self.is_historical:
            # the scope is part of the id: all lines of a memory have the same
            return memory.sources if self.visibility.admits(memory.sources[0].line.attributes.scope) else ()
        return tuple(source for source in memory.sources if self._is_valid(source))

    def eligible(self, memory: Memory) -> tuple[MemorySource, ...]:
        """Return the sources of a memory that match all filters, newest first."""
        if not self.picks_memories:
            return self.visible_sources(memory)
        if self.kinds is not None and memory.kind not in self.kinds:
            return ()
        if self.entities is not None and self.entities.isdisjoint(memory.slugs):
            return ()
        return tuple(source for source in memory.sources if self._is_valid(source) and self._is_within(source))

    def _is_valid(self, source: MemorySource) -> bool:
        if not self.visibility.admits(source.line.attributes.scope):
            return False
        if self.known_by is not None and source.day > self.known_by:
            return False
        return self.as_of is None or self._was_valid(source, self.as_of)

    def _was_valid(self, source: MemorySource, day: date) -> bool:
        """Return whether a line was valid on a day, as known then, or as known later if `known_by` is given.

        A plan counts before its day. A page without a date does not say when its lines were written.
        """
        if self.known_by is not None:
            return span_of(source).first <= day
        if date_in_name(source.path) is None:
            return source.event is None or source.event.first <= day
        return source.day <= day

    def _is_within(self, source: MemorySource) -> bool:
        span = span_of(source)
        if self.since is not None and span.last < self.since:
            return False
        if self.until is not None and span.first > self.until:
            return False
        return self._is_of_scope(source.line.attributes.scope)

    def _is_of_scope(self, scope: str) -> bool:
        if not self.scope or self.scope == scope:
            return True
        return not scope and (
            self.scope == WORKSPACE or (self.is_alone and self.scope == f"agent:{self.visibility.agent}")
        )


def span_of(source: MemorySource) -> DaySpan:
    """Return the days that a source is about: its event time, else the day on which it was written."""
    return source.event or DaySpan(source.day, source.day)


def kinds_named(name: str) -> frozenset[Kind] | None:
    """Return the kinds of a network or kind name; `opinion` means the network. None for an unknown name."""
    plain = name.strip().lower()
    return frozenset(kind for kind in Kind if plain in (kind.value, network_of(kind).value)) or None


def invisible_memories(book: Book, visibility: Visibility) -> frozenset[MemoryId]:
    """Return the memories that the client must not learn of."""
    # memories without a scope are visible to all
    hidden = (keys for scope, keys in book.scoped.items() if not visibility.admits(scope))
    return frozenset[MemoryId]().union(*hidden)


def is_visible_entity(book: Book, slugs: Iterable[EntitySlug], visibility: Visibility) -> bool:
    """Return whether a visible memory is about an entity with one of these slugs."""
    named = (book.memories[key] for slug in slugs for key in book.by_entity.get(slug, ()))
    return any(visibility.admits(memory.line.attributes.scope) for memory in named)


def named_entity(book: Book, name: str) -> frozenset[EntitySlug]:
    """Return the slugs of an entity and its aliases, given any of its names."""
    return frozenset(book.slugs_of([book.entity_named(name.removeprefix("@"))]))


_OPINION = caseless(
    r"\b(?:prefers?|preferred|preferences?|preferring|favou?rites?|opinions?|views?|tastes?|likes|dislikes?|loves?"
    r"|hates?|enjoys?|believes?|thinks|feels? about|thinks? (?:of|about)"
    r"|(?:do|does|did|doesn't|don't|to) (?:\w{1,30}+ ){0,3}(?:like|think|feel|want|mind))\b"
    r"|喜欢|喜歡|偏好|偏爱|偏愛|觉得|覺得|认为|認為|看法|想法|意见|意見|讨厌|討厭|爱吃|爱喝|爱看|爱好|口味"
)
_IS_LIKENESS = caseless(r"\b(?:look|sound|taste|smell|feel|something|anything)s? like\b")
_LAST = caseless(
    r"\b(?:last\stime|(?:i|we|you|he|she|who)\slast|most\srecent(?:ly)?|latest)\b"
    r"|\bwhen\b[^?!;\n]{1,60}?\blast\b(?!\s(?:[0-9]|(?:weeks?|months?|years?|nights?|times?|days?|few|names?|of"
    r"|weekends?|spring|summer|autumn|fall|winter|(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?)\b))"
    r"|(?<![早晚])上一?[次回](?![日序数數品周週个個月年])|最近一[次回]|最后一[次回]|最後一[次回]"
)
_ENGLISH_QUESTION_WORDS = """
tell know remember recall show list give find say said happen happened happening happens going go went anything
everything something thing things stuff info information details detail regarding concerning news new recent recently
latest lately please let us around near ago last next past since before after between during until till early late mid
today yesterday tomorrow tonight morning afternoon evening night week weeks weekend month months year years day days
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec st nd rd th
prefer prefers preferred preference preferences favourite favorite favourites favorites opinion opinions view views
taste tastes like likes dislike dislikes love loves hate hates enjoy enjoys believe believes think thinks feel feels
want wants mind write wrote written note notes noted memory memories
"""
_QUESTION_WORDS = STOP_WORDS | frozenset(_ENGLISH_QUESTION_WORDS.split())
_GERMAN_QUESTION_WORDS = """
war waren gab gibt los passiert gemacht machen mache geplant steht stehen an vor los alles denn gestern vorgestern heute
morgen ubermorgen letzte letzten letzter letztes vorige vorigen nachste nachsten nachstes nachster diese diesen dieser
dieses den am im seit bis tag tage tagen woche wochen wochenende monat monate jahr jahres abend montag dienstag mittwoch
donnerstag freitag samstag sonnabend sonntag januar februar marz mai juni juli oktober dezember okt dez er wo
"""
_DAY_QUESTION_WORDS = _QUESTION_WORDS | {"calendar", "agenda", "planned"} | frozenset(_GERMAN_QUESTION_WORDS.split())
"""Words that are meaningful in a question without days: `where is Lina's calendar?`"""
_EASTERN_QUESTION_WORDS = expression(
    r"请问|請問|告诉|告訴|介绍|介紹|说说|說說|讲讲|講講|聊聊|关于|關於|有关|有關|知道|记得|記得|发生|發生|事情|情况|情況"
    r"|怎么样|怎麼樣|如何|什么|什麼|哪些|哪个|为什么|谁|誰|最近|所有|全部|一切|一下|一些|东西|東西|消息|近况"
    r"|喜欢|喜歡|偏好|偏爱|偏愛|觉得|覺得|认为|認為|看法|想法|意见|意見|讨厌|討厭|爱好"
    r"|今天|昨天|前天|明天|后天|今年|去年|前年|明年|上个?月|上個月|这个?月|這個月|下个?月|本月|上个?周|上週|这个?周|本周|下个?周"
    r"|(?:上|这|這|下|本)?个?(?:周|週|星期|礼拜|禮拜)[一二三四五六日天末]?|[0-9零〇一二三四五六七八九十廿两]{1,6}+个?(?:年|月|日|号|號|天|周|星期)"
    r"|以来|以來|之前|以前|之后|之後|以后|以後|左右|前后|前後|附近|期间|期間|年|月|日|号|初|底|中旬|上旬|下旬"
    r"|有没有|有過|有过|有|做|事|我们|你们|他们|她们|我|你|您|他|她|它|们|的|了|吗|呢|吧|啊|是|在|从|從|到|和|与|跟|对|對|过|都|还|把|被|呀|么|那|这"
)
LONGEST_OF_ALL = 120
_ALL = caseless(
    r"(?:\W*(?:so|and|ok|okay|hey|hi|well|please|tell me|show me|list))*\W*(?:what|everything|all)(?: else)?"
    r"(?: do| did| have)? (?:yo)?u (?:(?:already|actually|still|all|even|have|do) )*"
    r"(?:know|remember|got|have|learn\w*|save\w*|store\w*|note\w*|keep|kept)"
    r" (?:so far )?(?:about|on|of) (?:me|us)\b[\w ]{0,16}\W*"
    r"|(?:\W*(?:und|also|sag mal))*\W*was wei(?:ss|ß|s)t du (?:\w+ ){0,2}(?:uber|von) (?:mich|mir|uns)\b[\w ]{0,16}\W*"
    r"|\W*你(?:现在|目前|到底)?[都还]*(?:记住|记得|记|知道|了解)[了下]?(?:关于)?我(?:的)?"
    r"(?:什么|哪些|啥|多少)(?:事|事情|信息|东西)?[了呢啊呀吗]?\W*"
    r"|\W*关于我你?[都还]*(?:知道|记住|记得|了解)[了些]*(?:什么|哪些|啥|多少)[了呢啊呀]?\W*"
)
"""A question about everything that is known: *what do you know about me*, 你都记住我什么了."""
_CONVERSED = expression(
    r"\b(?:did|have|had|were|was) (?:i|we|you|they|he|she) (?:talk|discuss|sp[eo]ak|spoke|chat|mention|tell|told|ask)"
    r"(?:ed|ted|en|ing|ting)?\b|聊|谈|談|讨论|討論|提到"
)
"""A question about a conversation on some days; `talk to you tomorrow` is no question."""
_WORD = expression(rf"[^\W_{UNSPACED}]+")
_SPACED = expression(rf"[^\W{UNSPACED}]")
"""A character of a word in a script with spaces."""
_APOSTROPHE = expression("['\u2019]s?\\b")


class QueryIntent(Struct, frozen=True):
    """What a question asks for besides its words; `is_bare`: it asks for nothing else.

    `is_of_days`: it is about the days of `span`, otherwise they are only a lift; `is_ahead`: it is about plans for
    these days; `is_of_last`: it is about the last time of something.
    """

    entities: frozenset[EntitySlug] = frozenset()
    span: DaySpan | None = None
    is_of_days: bool = False
    is_ahead: bool = False
    is_of_last: bool = False
    is_of_opinion: bool = False
    is_bare: bool = False


def query_intent(
    question: str, *, entities: Collection[EntitySlug], names: Collection[str], days: QueryDays | None
) -> QueryIntent:
    """Return what a question asks for besides its words.

    `entities` are those that it names, `names` all of their names, `days` those that it mentions.
    """
    return QueryIntent(
        entities=frozenset(entities),
        span=None if days is None else days.span,
        is_of_days=days is not None and days.is_matter,
        is_ahead=days is not None and days.is_ahead,
        is_of_last=asks_for_last(question),
        is_of_opinion=asks_for_opinion(question),
        is_bare=bool(entities or days) and not _has_other_words(question, names, has_days=days is not None),
    )


def asks_for_all(question: str) -> bool:
    """Return whether a question asks for everything known about the speaker."""
    return len(question) <= LONGEST_OF_ALL and _ALL.fullmatch(normalised(question)) is not None


def asks_for_opinion(question: str) -> bool:
    """Return whether a question asks for a preference or an opinion; what something looks like is no opinion."""
    return _OPINION.search(_IS_LIKENESS.sub(" ", question)) is not None


def asks_for_last(question: str) -> bool:
    """Return whether a question is about the last time of something; last names and last week do not count."""
    return _LAST.search(normalised(question)) is not None


def _has_other_words(question: str, names: Collection[str], *, has_days: bool) -> bool:
    """Return whether a question has a word that is no name, no time, and no question word."""
    text = normalised(question).lower().replace("-", " ")
    for name in sorted((normalised(name).lower().replace("-", " ") for name in names), key=len, reverse=True):
        text = _without(text, name) if name.strip() else text
    question_words = _QUESTION_WORDS
    if has_days:
        text, question_words = _CONVERSED.sub(" ", text), _DAY_QUESTION_WORDS
    text = _EASTERN_QUESTION_WORDS.sub(" ", _APOSTROPHE.sub(" ", text))
    words = (word for word in _WORD.findall(text) if not word[0].isdigit())
    return any(word not in question_words for word in words) or UNSPACED_RUN.search(text) is not None


def _without(text: str, name: str) -> str:
    """Return a text with blanks in place of a name, where it is not part of a longer word.

    Not by a regular expression: compiling one for each name would take longer than the rest of the question.
    """
    pieces, start, at = list[str](), 0, text.find(name)
    while at >= 0:
        end = at + len(name)
        if _SPACED.match(text[max(0, at - 1) : at]) or _SPACED.match(text, end):
            at = text.find(name, at + 1)
            continue
        pieces += [text[start:at], " "]
        start, at = end, text.find(name, end)
    return "".join([*pieces, text[start:]])
