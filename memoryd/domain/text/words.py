"""Words for the keyword index: the same rule cuts notes and questions, so that what is written is what is found.

FTS5's `unicode61` splits at everything that is no letter, digit or mark, which suits alphabets. Scripts without
spaces are cut here into overlapping pairs of characters first, and compound identifiers also into their parts.
"""

import re
import unicodedata

UNSPACED = (
    "\u3005\u3006\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\uac00-\ud7af\u1100-\u11ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
)
"""Chinese, Japanese and Korean, Thai, Lao, Burmese and Khmer: for use between brackets of a pattern."""
_RUN = re.compile(f"[{UNSPACED}]+")
_LONG_RUN_AT_END = re.compile(f"[{UNSPACED}]{{2}}\\Z")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_MIXED = re.compile(r"(?<![A-Za-z0-9])(?!(?:[A-Z]*[a-z]*|[0-9]+)(?![A-Za-z0-9]))[A-Za-z0-9]+")
"""A word that is neither a number nor letters alone, the small ones after the capitals."""
_SILENT = re.compile(
    "[\u00ad\u200b-\u200d\u2060\ufeff\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
"""What some write and others do not: soft hyphens, zero-width signs, the vowel signs of Hebrew and Arabic."""
_ACCENT = re.compile("(?<![иИ])[\u0300-\u036f]")
"""Of Latin, Greek and Cyrillic; й is a letter of its own."""
_YOUNG = re.compile(
    "[\u061c\u2066-\u2069\u20ba-\u20cf\u218a\u218b\u23f4-\u23ff\u2700\u2b4d-\u2bff\u2e3c-\u2e7f"
    "\U0001f000-\U0001f0ff\U0001f10d-\U0001fbef]"
)
"""Signs and emoji that the tables of FTS5, of Unicode 6.1, do not know, and that it takes for letters."""
_JOINED = re.compile(r"(?<!\w)\w+(?:[-_./:@#\\+]+\w+)+")
_CODED = re.compile(r"[0-9_./:@#\\]")
_CODE = re.compile(r"(?:(?=[a-z]*[0-9])(?=[0-9]*[a-z])[a-z0-9]{5,}|[0-9]{5,}|[a-f]{5,})\Z")
"""Letters with digits, a long number, or what may be the start of a hash though it has no digit."""
_NUMBER = re.compile(r"[0-9]{3,4}\Z")
_WORD = re.compile(r"[^\W_]+")

Phrase = tuple[str, ...]
"""Words that follow each other, as `phrase_words` cuts them."""
MAX_PHRASE_WORDS = 8
"""A phrase costs the index time by its length, so a longer one is looked for by its words alone."""

_ENGLISH = """
a about after all also am an and any are as at be because been before being but by can could did do does doing for from
had has have having he her here hers him his how i if in into is it its just me more most my no not of off on once one
only or other our ours out over own please s same she should so some such t tell than that the their theirs them then
there these they this those through to too under until up us very was we were what when where which while who whom whose
why will with would you your yours ll re ve d m don doesn didn isn wasn
"""
_CHINESE_AND_JAPANESE = (
    "的 了 是 在 吗 呢 吧 啊 和 与 我 你 他 她 它 们 这 那 有 什么 怎么 哪 谁 は が を に の と も です ます"
)
STOP_WORDS = frozenset((_ENGLISH + _CHINESE_AND_JAPANESE).split())

_PARTICLE = re.compile(f"(?<=[{UNSPACED}])(?<!目)的(?![士确])(?=[{UNSPACED}])")
"""The Chinese `of`, which ends a word: pairs across it say nothing, and stand in many notes."""


def normalised(text: str) -> str:
    """Return the text in one spelling: plain widths (NFKC), no accents, no signs that some leave out."""
    if text.isascii():
        return text
    apart = _ACCENT.sub("", unicodedata.normalize("NFKD", text))
    return _SILENT.sub("", unicodedata.normalize("NFC", apart))


def index_text(text: str) -> str:
    """Return what the keyword index stores for `text`: runs without spaces as character pairs, NULs as spaces.

    The last character of a run stands alone too: so each of its characters begins something.
    """
    if "\0" in text:
        text = text.replace("\0", " ")
    return text if text.isascii() else _RUN.sub(_spaced_pairs, _YOUNG.sub(" ", normalised(text)))


def identifier_parts(text: str) -> str:
    """Return the parts of the compound identifiers in `text` (`maxResults` → `max Results`), space-separated."""
    mixed = dict.fromkeys(_MIXED.findall(text))
    return " ".join(_HUMP.sub(" ", word) for word in mixed if _HUMP.search(word))


def query_terms(question: str, *, limit: int = 64) -> list[str]:
    """Return the distinct terms of a question, in order, stop words left out unless nothing else is there."""
    apart = _PARTICLE.sub(" ", normalised(question))
    distinct = list(dict.fromkeys(word.lower() for word in _cut(apart)))
    telling = [word for word in distinct if word not in STOP_WORDS]
    return (telling or distinct)[:limit]


def joined_phrases(question: str) -> list[Phrase]:
    """Return the words of each thing that is written as one, though it has several: dates, paths, numbers of errors.

    Words that a hyphen alone joins are none: to count them twice costs recall where names are hyphenated.
    """
    coded = (joined for joined in _JOINED.findall(normalised(question)) if _CODED.search(joined))
    found = (tuple(phrase_words(joined)) for joined in coded)
    return [words for words in dict.fromkeys(found) if 1 < len(words) <= MAX_PHRASE_WORDS]


def is_code(term: str) -> bool:
    """Tell whether a term is an identifier, a number or a hash: those are often given by their first five signs."""
    return _CODE.match(term) is not None


def is_number(term: str) -> bool:
    """Tell whether a term is a number of three or four digits, as years are; longer ones are codes."""
    return _NUMBER.match(term) is not None


def is_single(term: str) -> bool:
    """Tell whether a term is one character of a script without spaces, of which the index holds pairs."""
    return len(term) == 1 and _RUN.match(term) is not None


def is_unspaced(text: str) -> bool:
    """Tell whether most of a text stands in a script without spaces: a word of another is as much as two characters."""
    apart = normalised(text)
    signs = sum(len(run) for run in _RUN.findall(apart))
    return signs > 0 and signs >= 2 * len(_split(_RUN.sub(" ", apart)))


def phrase_words(text: str) -> list[str]:
    """Return the words of a phrase in order, as the index has them, stop words and repeated ones too.

    So the last character of a run without spaces stands alone behind it; not at the end, where the run may go on.
    """
    words = [word.lower() for word in _split(index_text(text))]
    return words[:-1] if _LONG_RUN_AT_END.search(normalised(text)) else words


def spoken_words(text: str) -> list[str]:
    """Return the words of a text in order, runs without spaces as pairs alone."""
    return [word.lower() for word in _cut(normalised(text))]


def _cut(text: str) -> list[str]:
    """Return the words of a text in order, runs without spaces as pairs."""
    spaced = _RUN.sub(r" \g<0> ", text)
    return [part for word in _split(spaced) for part in (_pairs(word) if _RUN.match(word) else [word])]


def _split(text: str) -> list[str]:
    """Split a text where FTS5 does."""
    if text.isascii():
        return _WORD.findall(text)
    # letters, numbers and marks, as the `categories` of the index's tokenizer have it
    return "".join(sign if unicodedata.category(sign)[0] in "LNM" else " " for sign in text).split()


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]


def _spaced_pairs(match: re.Match[str]) -> str:
    run = match.group()
    return f" {' '.join(_pairs(run))} {run[-1] if len(run) > 1 else ''} "
