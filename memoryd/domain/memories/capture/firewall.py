"""Protection against false memories: the echo firewall, the grounding of model output, and the origin of a message.

Text that a session got from the memory is not learned again from the session. Of each span shown to it, only hashes are
stored: of its words, and of each three words in a row. A sentence is an echo of a span if it says the same, quotes a
part of it with all significant words in order, or joins several echoes. With a word, number or negation of its own, as
in a correction or a second fact, it is news.

The output of a text model must be in the message: in its language, with its words and numbers alone. A memory is only
made from a person's own words, in a chat of that person.
"""

from collections.abc import Callable, Collection, Iterable
from hashlib import blake2b

from msgspec import Struct

from memoryd.domain.access import read_key
from memoryd.domain.expressions import caseless, expression, word_set
from memoryd.domain.memories.edits import OWN_CHANNELS
from memoryd.domain.memories.facts.values import HAN_SIGN
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.words import STOP_WORDS, UNSPACED, normalised, statement_of

HASH_BYTES = 8
CHARS_MAX = 2000
"""Length limit of a span; the rest is ignored."""
RUN = 3
"""Number of words whose hash is stored as a run."""
MIN_WORDS = 3
"""Least number of words for an echo of a part; fewer words echo only an equal span."""
_EMPTY = word_set("a an the and so that just also well still please indeed 还 仍 的 了 呢 吧 啊 呀")
"""Words without meaning, which runs skip."""
_UNIT = expression(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_ATTRIBUTION = (
    r"(?:(?:as|like) )?(?:you|we|i)(?:['’]ve| have)? (?:just |already |also |once )?"
    r"(?:told|said|say|know|knew|mentioned|recalled|remembered|remember|noted|wrote|reminded)"
    r"(?: (?:to )?(?:me|you|us))?(?: (?:before|earlier|already|yesterday|last time))?(?: that)?"
    r"|(?:as|like) (?:you|i) (?:told|said)|like (?:you|i) (?:told|said)|exactly|right|yes|yeah|ok|okay|correct|indeed"
    r"|again|once again|once more|so|well|and|good|great"
    r"|(?:thanks|thank you)(?: for (?:remembering|reminding me|knowing))?"
    r"|(?:please )?(?:remember|note|keep in mind)(?: that)?|记住|请记住"
    r"|(?:that['’]?s|it['’]?s) (?:right|correct|true)|of course|true|sure|(?:you )?remembered (?:it|that|well)"
    r"|谢谢你?(?:还)?(?:记得|提醒)?|多谢|(?:你)?(?:还)?记得(?:没错|很?清楚|对)|当然|确实|(?:正?如|像|就像|跟)?(?:你|您|我)"
    r"(?:刚才|之前|已经|也)?(?:告诉过?(?:我|你|您)?|说过?|提到过?|知道|记得|提过)(?:的(?:那样)?|了)?|对|是的|好的?|没错"
)
"""Phrases that only refer to an earlier statement."""
_FRAME_BEFORE = caseless(rf"\s*+(?:(?:{_ATTRIBUTION})(?![^\W{UNSPACED}])[\s,.:;!，。：；！、\"“”—–-]*+)+")
_FRAME_BEHIND = caseless(rf"(?<![\s,;，；—–-])(?:[\s,;，；—–-]++(?:{_ATTRIBUTION}))+[\s.!。！\"”]*+\Z")

_JOINED = caseless(
    r"(?:[,;，；、]\s*+(?:and|but|so|because|also)\b|[,;，；、]|\s(?:and|but|so|because)\b|而且|并且|和)"
)
"""Separators of clauses."""
_SHORTENED = tuple(
    (expression(rf"{short}\b"), long)
    for short, long in (
        ("can['’]t", "can not"),
        ("won['’]t", "will not"),
        ("n['’]t", " not"),
        ("(?<=i)['’]m", " am"),
        ("['’]re", " are"),
        ("['’]ve", " have"),
        ("['’]ll", " will"),
    )
)
"""Contractions in lower case, with their full forms."""

SpanHash = Callable[[str], bytes]
"""Function from a word or a run to a hash of `HASH_BYTES` bytes; keyed, so that the words cannot be guessed from it."""


class SpanPrint(Struct, frozen=True):
    """Hashes of a span: of the complete text, of its words and of its runs; and whether it is negated."""

    full: bytes
    words: frozenset[bytes]
    runs: frozenset[bytes]
    is_negated: bool


def hash_with_key(key: bytes) -> SpanHash:
    """Return a hash function with a key of up to 64 bytes."""

    def hashed(text: str) -> bytes:
        return blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=HASH_BYTES).digest()

    return hashed


def hash_span(text: str, hashed: SpanHash) -> SpanPrint | None:
    """Return the hashes of a span; None if it has no words."""
    units = _units(text[:CHARS_MAX])
    if not units:
        return None
    significant = _significant(units)
    runs = (" ".join(significant[at : at + RUN]) for at in range(len(significant) - RUN + 1))
    return SpanPrint(
        full=hashed(" ".join(units)),
        words=frozenset(map(hashed, units)),
        runs=frozenset(map(hashed, runs)),
        is_negated=statement_of(text[:CHARS_MAX]).is_negated,
    )


def is_echo(text: str, delivered: Iterable[SpanPrint], hashed: SpanHash) -> bool:
    """Return whether a sentence says only what delivered spans say."""
    sentence, spans = text[:CHARS_MAX], list(delivered)
    if _is_echo_of_span(sentence, spans, hashed):
        return True
    clauses = [clause for clause in _JOINED.split(_unframed(sentence)) if _units(_unframed(clause))]
    return len(clauses) > 1 and all(_is_echo_of_span(clause, spans, hashed) for clause in clauses)


def _is_echo_of_span(text: str, delivered: Iterable[SpanPrint], hashed: SpanHash) -> bool:
    bare = _unframed(text)
    prints = list(filter(None, (hash_span(text, hashed), hash_span(bare, hashed))))
    is_long = len(_significant(_units(bare))) >= MIN_WORDS
    return any(
        own.full == span.full
        or (is_long and own.is_negated == span.is_negated and bool(own.runs) and own.runs <= span.runs)
        for span in delivered
        for own in prints
    )


def _unframed(text: str) -> str:
    """Return a sentence without phrases that only refer to an earlier statement."""
    before = _FRAME_BEFORE.match(text)
    return _FRAME_BEHIND.sub("", text[before.end() :] if before else text)


def _significant(units: list[str]) -> list[str]:
    return [unit for unit in units if unit not in _EMPTY]


def _units(text: str) -> list[str]:
    plain = normalised(text).casefold()
    for short, long in _SHORTENED:
        plain = short.sub(long, plain)
    return _UNIT.findall(plain)


_WORD = expression(r"[^\W\d_\u4e00-\u9fff]{3,}")
_NUMBER = expression(r"\d+")
_CLAUSES = expression(r"[,;:!?\n，；：。！？]|\.(?=\s|$)|\bbut\b|但是?")
_FIRST_PERSON = caseless(r"\b(?:i|i['’]m|my|me|mine|we|our)\b|[我咱]")
_COMMON_WORDS = STOP_WORDS | word_set("user users person author named called name wants said one")
"""Words about a person or a statement, which may be in a memory without being in the message."""
_COMMON_HAN = frozenset("用户的他她是在有叫名字为了把被和与其人住对会说这位者")
_STEM = 4
_DIRECTIONS = word_set("to from over than")
"""Words that define the roles of two things."""
_ORDERED = expression(r"[^\W\d_\u4e00-\u9fff]{2,}")
_PAST = caseless(
    r"(?<!am )(?<!is )(?<!are )(?<!['’]m )\bused to\b|\b(?:hardly|scarcely|formerly|previously)\b|以前|曾经?|过去"
)
_WHO = (
    r"(?:\b(?:son|daughter|child|children|kids?|wife|husband|partner|girlfriend|boyfriend|mother|mum|mom|father|dad"
    r"|parents|brother|sister|aunt|uncle|cousin|grandmother|grandfather|grandma|grandpa|friend)\b"
    r"|儿子|女儿|孩子|妻子|老婆|太太|丈夫|老公|妈妈|母亲|爸爸|父亲|爷爷|奶奶|外公|外婆|哥哥|弟弟|姐姐|妹妹|叔叔|阿姨|朋友|同事)"
)
_PERSON = caseless(_WHO)
_IS_ABOUT_PERSON = caseless(
    rf"\A\W*(?:(?:and|so|also|because) )?(?:my (?:\w+ )?|我(?:的|家)?){_WHO}(?!['’]s| and (?:i|me)\b|[和跟与]我)"
)


def why_ungrounded(text: str, message: str) -> str:
    """Return the reason why a memory does not follow from a message, by its words alone; empty if it may follow."""
    if bool(HAN_SIGN.search(text)) != bool(HAN_SIGN.search(message)):
        return SkipReason.OTHER_LANGUAGE
    if _FIRST_PERSON.search(text):
        return SkipReason.FIRST_PERSON
    if not set(_NUMBER.findall(text)) <= set(_NUMBER.findall(message)):
        return SkipReason.INVENTED
    stems, signs = _stems(text, _COMMON_WORDS), set(HAN_SIGN.findall(text)) - _COMMON_HAN
    is_invented = not (stems <= _stems(message) and signs <= set(HAN_SIGN.findall(message)))
    if is_invented or not _is_in_order(text, message):
        return SkipReason.INVENTED
    shared = {
        clause: len(stems & _stems(clause)) + len(signs & set(HAN_SIGN.findall(clause)))
        for clause in _CLAUSES.split(message)
    }
    likely = [clause for clause, count in shared.items() if count == max(shared.values())]
    return SkipReason.INVERTED if all(_is_inverted(text, clause) for clause in likely) else ""


def _stems(text: str, common: Collection[str] = ()) -> set[str]:
    words = (word.casefold() for word in _WORD.findall(text))
    return {word[:_STEM] for word in words if word not in common}


def _is_in_order(text: str, message: str) -> bool:
    """Return whether the message has the significant words of a memory in the same order; if not, roles may differ."""
    stems = iter([word[:_STEM] for word in _ordered(message)])
    return all(word[:_STEM] in stems for word in _ordered(text) if word not in _COMMON_WORDS or word in _DIRECTIONS)


def _ordered(text: str) -> list[str]:
    words = (word.casefold() for word in _ORDERED.findall(text))
    return [word for word in words if len(word) > len("to") or word in _DIRECTIONS]


def _is_inverted(text: str, clause: str) -> bool:
    """Return whether a clause says the contrary of a memory, or is about the past or another person."""
    return (
        statement_of(clause).is_negated != statement_of(text).is_negated
        or bool(_PAST.search(clause) and not _PAST.search(text))
        or bool(_IS_ABOUT_PERSON.search(clause) and not _PERSON.search(text))
    )


USER = "user"
_SUBAGENT = "subagent"


def why_untrusted(*, role: str, channel: str | None, session_key: str, is_direct: bool, in_groups: bool) -> str:
    """Return the reason why nothing may be learned from a message because of its origin; empty if it may be."""
    if role != USER:
        return SkipReason.NOT_FROM_USER.format(role)
    key = read_key(session_key) if session_key else None
    if key is not None and _SUBAGENT in key.raw.split(":"):
        return SkipReason.SUBAGENT
    places = {channel, None if key is None else key.memory_channel, None if key is None else key.channel}
    if apart := sorted(OWN_CHANNELS & {place for place in places if place}):
        return SkipReason.OWN_CHANNEL.format(apart[0])
    if not is_direct and not in_groups:
        return SkipReason.IN_GROUP
    return ""
