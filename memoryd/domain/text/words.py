"""Words for the keyword index, one spelling for what is written in several ways, stems, and statements.

The same rule cuts notes and questions, so that a question finds what is written. FTS5's `unicode61` splits at
everything that is no letter, digit or mark, which suits alphabets. Scripts without spaces are cut here into
overlapping pairs of characters first, and compound identifiers also into their parts.

One spelling covers widths, quotation marks, wrapped lines and emphasis. What might be a fact stays as it is: case,
accents, signs, digits, passwords.

A statement is its significant words without negations, and how many those are. Explicit wording alone counts, English
and Chinese: not, never, no longer, don't, cannot · 不, 不再, 从不, 没, 未. What only looks like one (not only, 不错,
没关系, 是不是) is left alone. This finds what a person should read; it decides nothing.

FTS5 stems every word as Porter did for English (https://www.sqlite.org/fts5.html#porter_tokenizer). Two things are made
of it here, so that a question finds other forms of what it says:

- Some words are not to be stemmed: *his* becomes *hi*, and *use* becomes *us*. Of each such pair one word gets a MARK
  at its end, which the stemmer leaves alone.
- Words of other languages have a second stem, by Snowball (https://snowballstem.org), where it is another one than
  Porter's. What a word finds without it is found as before.

Accents are gone before a word is stemmed, since many do not type them. Of the pairs of forms that Snowball brings
together with accents it still does so with all in German, and with nine in ten in Spanish.
"""

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from operator import add
from typing import cast

from msgspec import Struct

from memoryd.domain.expressions import TextMatch, expression

UNSPACED = (
    "\u3005\u3006\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\uac00-\ud7af\u1100-\u11ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
)
"""Chinese, Japanese and Korean, Thai, Lao, Burmese and Khmer: for use between brackets of a pattern."""
UNSPACED_RUN = expression(f"[{UNSPACED}]+")
_LONG_RUN_AT_END = expression(f"[{UNSPACED}]{{2}}\\Z")
_HUMP = expression(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_MIXED = expression(r"(?<![A-Za-z0-9])(?!(?:[A-Z]*[a-z]*|[0-9]+)(?![A-Za-z0-9]))[A-Za-z0-9]+")
"""A word that is neither a number nor letters alone, the small ones after the capitals."""
_SILENT = expression(
    "[\u00ad\u200b-\u200d\u2060\ufeff\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
"""What some write and others do not: soft hyphens, zero-width signs, the vowel signs of Hebrew and Arabic."""
_ACCENT = expression("[\u0300-\u036f](?<![иИ][\u0300-\u036f])")
"""Of Latin, Greek and Cyrillic; й is a letter of its own. What stands before is looked at last, where one is."""
_SIGN = expression(
    "[\x80-\xbf\xd7\xf7\u061c\u2010-\u2064\u2066-\u206f\u20a0-\u20cf\u218a\u218b\u2190-\u23ff\u2500-\u2775\u2794-\u2bff\u2e00-\u2e2e"
    "\u2e30-\u2e7f\u3001-\u3004\u3008-\u3020\u3030\U0001f000-\U0001f0ff\U0001f10d-\U0001fbef]"
)
"""Signs and emoji: some are no letters for FTS5 either, and some its tables, of Unicode 6.1, do not know."""
_ASCII = bytes(range(0x80))
_SIGNS_AS_BLANKS = bytes(byte if byte >= 0x80 or chr(byte).isalnum() else ord(" ") for byte in range(0x100))
_SHAPES = bytes(
    ord("a" if one.islower() else "A" if one.isupper() else "0" if one.isdigit() else " ") if one < "\x80" else ord(" ")
    for one in map(chr, range(0x100))
)
_HUMP_OF_SHAPES = expression(rb"[A0](?:(?<=a.)|(?<=A0)|(?<=0)[aA])")
"""Begins with what is rare: nearly all of a text is passed at once."""
_JOINED = expression(r"(?<!\w)\w+(?:[-_./:@#\\+]+\w+)+")
_CODED = expression(r"[0-9_./:@#\\]")
_CODE = expression(r"(?:(?=[a-z]*[0-9])(?=[0-9]*[a-z])[a-z0-9]{5,}|[0-9]{5,}|[a-f]{5,})\Z")
"""Letters with digits, a long number, or what may be the start of a hash though it has no digit."""
_NUMBER = expression(r"[0-9]{3,4}\Z")
_WORD = expression(r"[^\W_]+")

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
_GERMAN = """
aber auch bei bist dass dein deine dich ein eine einem einen einer eines euch für fur habe haben hast ich
ihr ist kann kannst mein meine mich mir nicht noch nur oder schon sein seine sie sind und uns unser unsere über uber vom
von wann welche wenn wer werden wie wir wird zum zur
"""
"""None that English has, too (`die`, `war`, `den`), nor programs and short forms: `dir`, `du`, `DER`, `ER`, `MIT`."""
STOP_WORDS = frozenset((_ENGLISH + _GERMAN + _CHINESE_AND_JAPANESE).split())

_GREETINGS = "hi hello hey hiya howdy thanks thank thx please pls ok okay btw lol"
GREETINGS = frozenset(_GREETINGS.split())
"""What people say around a question, and notes seldom: words so rare would weigh most of all."""
_GREETING = expression(
    "请问|請問|谢谢|謝謝|多谢|你好|您好|大家好|对了(?!解)|對了(?!解)|顺便|順便|麻烦你|麻煩你|拜托|拜託|哈哈+|嗯+"
)

_PARTICLE = expression(f"(?<=[{UNSPACED}])(?<!目)的(?![士确])(?=[{UNSPACED}])")
"""The Chinese `of`, which ends a word: pairs across it say nothing, and stand in many notes."""


def normalised(text: str) -> str:
    """Return the text in one spelling: plain widths (NFKC), no accents, no signs that some leave out."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    if _ACCENT.search(others := _others(apart)):
        apart = _ACCENT.sub("", apart)
    # by itself the one that is frequent: then most texts are composed, which takes a glance to see
    composed = unicodedata.normalize("NFC", apart.replace("и\u0306", "й").replace("И\u0306", "Й"))
    return _SILENT.sub("", composed) if _SILENT.search(others) else composed


def _others(text: str) -> str:
    """Return the characters of a text beyond ASCII, which are few in most, so that many searches need not pass it."""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


def index_text(text: str) -> str:
    """Return what the keyword index stores for `text`: runs without spaces as character pairs, NULs as spaces.

    The last character of a run stands alone too: so each of its characters begins something.
    """
    if "\0" in text:
        text = text.replace("\0", " ")
    if text.isascii():
        return text
    plain = normalised(text)
    others = _others(plain)
    if _SIGN.search(others):
        plain = _SIGN.sub(" ", plain)
    return UNSPACED_RUN.sub(_spaced_pairs, plain) if UNSPACED_RUN.search(others) else plain


def indexed_words(text: str) -> str:
    """Return the words of a text in order, as the keyword index takes them, with blanks between.

    They are cut and spelled as `index_text` does, in lower case, and marked.
    """
    plain = index_text(text).lower()
    data = plain.encode("utf-8", "surrogatepass")
    words = data.translate(_SIGNS_AS_BLANKS).decode("utf-8", "surrogatepass").split()
    if not plain.isascii() and not _others(plain).isalnum():
        # a sign may stand beside a word that is to be marked
        return marked(" ".join(words))
    return " ".join(map(NOT_STEMMED.get, words, words))


def identifier_parts(text: str) -> str:
    """Return the parts of the compound identifiers in `text` (`maxResults` → `max Results`), space-separated."""
    shapes = text.encode("utf-8", "surrogatepass").translate(_SHAPES)
    if not _HUMP_OF_SHAPES.search(shapes):
        return ""
    mixed = dict.fromkeys(_MIXED.findall(text))
    return " ".join(_HUMP.sub(" ", word) for word in mixed if _HUMP.search(word))


def query_terms(question: str, *, limit: int = 64) -> list[str]:
    """Return the distinct terms of a question, in order, stop words and greetings only where nothing else is there."""
    apart = _PARTICLE.sub(" ", normalised(question))
    bare = _distinct(apart if apart.isascii() else _GREETING.sub(" ", apart))
    telling = [word for word in bare if word not in STOP_WORDS and word not in GREETINGS]
    return (telling or _distinct(apart))[:limit]


def _distinct(text: str) -> list[str]:
    return list(dict.fromkeys(word.lower() for word in _cut(text)))


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
    return len(term) == 1 and UNSPACED_RUN.match(term) is not None


def is_unspaced(text: str) -> bool:
    """Tell whether most of a text stands in a script without spaces: a word of another is as much as two characters."""
    apart = normalised(text)
    signs = sum(len(run) for run in UNSPACED_RUN.findall(apart))
    return signs > 0 and signs >= 2 * len(_split(UNSPACED_RUN.sub(" ", apart)))


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
    spaced = UNSPACED_RUN.sub(r" \g<0> ", text)
    return [part for word in _split(spaced) for part in (_pairs(word) if UNSPACED_RUN.match(word) else [word])]


def _split(text: str) -> list[str]:
    """Split a text where FTS5 does."""
    if text.isascii():
        return _WORD.findall(text)
    # letters, numbers and marks, as the `categories` of the index's tokenizer have it
    return "".join(sign if unicodedata.category(sign)[0] in "LNM" else " " for sign in text).split()


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else list(map(add, run, run[1:]))


def _spaced_pairs(match: TextMatch) -> str:
    run = match[0]
    return f" {' '.join(map(add, run, run[1:]))} {run[-1]} "


HAN = "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese and Japanese, which wrap without a space: for use between brackets of a pattern."""
_SECRETS = (
    *("password", "passphrase", "passcode", "passwd", "secret", "token", "login", "log-in", "wifi", "wi-fi", "ssid"),
    *("api key", "license key", "licence key", "private key", "code word", "codeword", "pin", "username", "user name"),
    *("passwort", "kennwort", "mot de passe", "contraseña", "senha", "lösenord", "пароль"),
    *("密码", "密碼", "口令", "密钥", "暗号", "パスワード"),
)
_WIDE = {
    code: unicodedata.normalize("NFKC", chr(code))
    for code in range(0xFF01, 0xFFEF)
    if unicodedata.decomposition(chr(code)).startswith(("<wide>", "<narrow>"))
}
_QUOTES = dict.fromkeys(map(ord, "“”„‟«»"), '"') | dict.fromkeys(map(ord, "‘’‚‛"), "'")
_INVISIBLE = dict.fromkeys((0xAD, 0x200B, 0x2060, 0xFEFF))
_ONE_SIGN = {chr(code): sign or "" for code, sign in (_WIDE | _QUOTES | _INVISIBLE | {0x3000: " "}).items()}
_OTHER_SIGN = expression(f"[{''.join(_ONE_SIGN)}]")

_MARK_BEFORE, _MARK_AFTER = rf"(?<![^\s\"'(\[{HAN}、。])", rf"(?![^\s\"')\],.;:!?{HAN}、。])"
_STARS = expression(rf"{_MARK_BEFORE}(\*{{1,3}})(?=[^\W_]|[\"'(\[{HAN}])([^*\n]*[^\s*])\1{_MARK_AFTER}")
_UNDERLINES = expression(rf"{_MARK_BEFORE}(_{{1,3}})(?=[^\W_][^_\s]*+\s)([^_\n]*(?:\n[^_\n]*)?[^\s_])\1{_MARK_AFTER}")
WRAP = "\v"
"""Stands where a line is wrapped."""
_SPACE = f"[ {WRAP}]"
_IDLE_SPACE = expression(
    rf"{_SPACE}(?:(?<=[{HAN}]{_SPACE})(?=[A-Za-z0-9,.;:!?()])|(?<=[A-Za-z0-9,.;:!?()。、]{_SPACE})(?=[{HAN}]))"
    rf"|{WRAP}(?<=[{HAN}]{WRAP})(?=[{HAN}])"
)
_LETTERS_OF_A_WORD = 2


def plain_characters(text: str) -> str:
    """Return the text with plain widths and quotation marks, composed, without invisible signs."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _OTHER_SIGN.sub(lambda match: _ONE_SIGN[match[0]], text))


def is_secret(text: str) -> bool:
    """Tell whether a text speaks of passwords and the like, so that each sign may matter."""
    folded = text.lower()
    return any(word in folded for word in _SECRETS)


def without_emphasis(text: str) -> str:
    """Return the text without the marks of bold and italic words; those of products, powers and names stay."""
    bare = _STARS.sub(_inner, text) if "*" in text else text
    return _UNDERLINES.sub(r"\2", bare) if "_" in bare else bare


def unwrapped(text: str) -> str:
    """Return the text with a space at each WRAP, and with none where Chinese wraps or meets another script."""
    return (text if text.isascii() else _IDLE_SPACE.sub("", text)).replace(WRAP, " ")


def _inner(match: TextMatch) -> str:
    # a number or a letter between single stars may be a factor
    is_doubtful = len(match[1]) == 1 and sum(map(str.isalpha, match[2])) < _LETTERS_OF_A_WORD
    return match[0] if is_doubtful else match[2]


MAX_CHARS = 2000
"""Of a longer text the beginning counts."""
_IDLE = expression(
    r"\b(?:not only|not just|not least|never mind|why not|whether or not|or not)\b|"
    r"不得不|不好意思|差不多|对不起|了不起|来不及|不一定|不[错同过仅但少断久管论如然止只]|没关系|没问题|没事|未来|未必"
    rf"|(?P<sign>[{HAN}])[不没](?P=sign)"
)
_NEGATION = expression(
    r"\bno longer\b|\bnot\b(?: any ?more\b)?|\bnever\b|\bcannot\b"
    r"|(?:\b(?:ca|wo|sha))?n't\b|\b(?:do|does|did|is|are|was|were|has|have|had|would|could|should)nt\b"
    r"|(?P<han>(?:从来|从|并|再也|也|都|已经|已)?[不没未](?:再|会再)?)"
)
_FORMS = {"has": "have", "had": "have", "is": "be", "are": "be", "was": "be", "were": "be", "goes": "go"}
_SIBILANTS = ("ches", "shes", "sses", "xes", "zes")
_SHORTEST = 4
"""Shorter words have no ending of a verb: `gas`, `bus`."""


class Statement(Struct, frozen=True):
    """The telling words of a text, with English verbs in one form, and how often it negates."""

    words: frozenset[str]
    negations: int

    @property
    def is_negated(self) -> bool:
        """Whether it says that something is not so: twice not is so."""
        return self.negations % 2 == 1


def statement_of(text: str) -> Statement:
    """Return what a text states; for texts of any length, in time that grows with it."""
    told = _IDLE.sub(lambda match: " " * len(match[0]), plain_characters(text[:MAX_CHARS]).lower())
    # a Chinese one stands inside a run, whose pairs must be those of the same run without it
    bare, count = _NEGATION.subn(lambda match: "" if match["han"] else " ", told)
    words = spoken_words(bare)
    telling = frozenset(_base_form(word) for word in words if word not in STOP_WORDS)
    return Statement(telling or frozenset(words), count)


def _base_form(word: str) -> str:
    if word in _FORMS:
        return _FORMS[word]
    if not word.isascii() or len(word) < _SHORTEST or word.endswith("ss") or not word.endswith("s"):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(_SIBILANTS) else word[:-1]


MARK = "\ue000"
"""Of the private use area: part of a word for FTS5, and in nobody's notes."""
STEMMERS = {
    "de": "german",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "pt": "portuguese",
    "ru": "russian",
    "sv": "swedish",
}
"""The languages beside English that are stemmed, and how Snowball calls them."""
LEAST_LETTERS = 4
"""Of a word that these stem: a shorter one would lose what it means."""
_LEAST_LETTERS_LEFT = 3

_NOT_STEMMED = """
ac ae ag ah al andes ap ar at ate au aw ay ba bi bios bo bu by ca ce ci cms co cu da de di dos ea ed ef eh el em en ep
er es et ev ew ex ey fa fe fi fps fri ga ge gi gps gui ha har herring hi ho ia ic ide ii il io ir ja jo ju ka ki ko ku
la le len li lo lu ly ma mi mo mrs mu na ne neg news ni nu ny ob oc od oh ok ol om ov ow ox oy pa pe pi po pu ra rel
ri ro ru sa se sed si skies sms sos spi su sy ta te thus ti tos tri tu ty ub uh uk ul um un ups ur us ut va ve vi vo
vu wa wed wi wit wo wy xa xe xi xo xu ya ye yo yu za ze zi zo zu
"""
"""Words of two letters that are the stem of others that mean something else, and words with the stem of such another:
hi and his, US and use, new and news, guy and GUI. Not *ad*, *go* and their like, whose other forms are their own."""
NOT_STEMMED = {word: f"{word}{MARK}" for word in _NOT_STEMMED.split()}
_ENDINGS = {
    "fr": (expression(r"ees?\Z"), "e"),
    "pt": (expression(r"[ao]es\Z"), "ao"),
}
"""Endings that Snowball knows by their accents (née, ações), and what it makes the same of."""
_LETTERS = expression(rf"(?<![^\W_])[^\W\d_]{{{LEAST_LETTERS},}}(?![^\W_])")


def marked(text: str) -> str:
    """Return a text with marks at the words that FTS5 is not to stem, which are known in lower case."""
    return _WORD.sub(lambda match: NOT_STEMMED.get(match[0], match[0]), text)


def stems_of(text: str, language: str) -> list[str]:
    """Return the stems that the words of a text have in a language beside those of FTS5, in order; none for others.

    The text is in lower case, cut and spelled as `index_text` does. `language` is a code as of `language_of`.
    """
    if language not in STEMMERS:
        return []
    words = _LETTERS.findall(text)
    if language in _ENDINGS:
        ending, other = _ENDINGS[language]
        words = [ending.sub(other, word) for word in words]
    english = _stemmer("porter")
    found = _stemmer(STEMMERS[language])(words)
    both = zip(found, english(words), english(found), strict=True)
    return [stem for stem, plain, again in both if plain != again and len(stem) >= _LEAST_LETTERS_LEFT]


def stems_asked(word: str, languages: Sequence[str]) -> list[str]:
    """Return the stems by which a word of a question is looked for, too, each once; none that many notes hold."""
    found = [stem for language in languages for stem in stems_of(word, language) if stem not in STOP_WORDS]
    return list(dict.fromkeys(found))


COMPOUNDING = "de"
"""The language whose compounds are written as one word."""
LEAST_PREFIX = 6
"""Letters of a word that others are looked for which begin with it, and of a beginning of it that is one itself."""
_LEAST_REST, _LONGEST = 3, 40
"""Letters of what is left of a compound behind its beginning, and of a word that is looked at so."""


def compound_beginnings(word: str) -> list[str]:
    """Return what a compound may begin with: most of these are words of nobody.

    Its ends are not: they turn words into others (Vermieter and Mieter).
    """
    ends = range(LEAST_PREFIX, len(word) - _LEAST_REST + 1) if len(word) <= _LONGEST else ()
    return [start for at in ends if (start := word[:at]) not in STOP_WORDS and start not in NOT_STEMMED]


@cache
def _stemmer(name: str) -> Callable[[Sequence[str]], list[str]]:
    # an English workspace needs none
    from Stemmer import Stemmer

    # the second argument: it is to remember no words, which are of somebody's notes
    return cast(Callable[[Sequence[str]], list[str]], Stemmer(name, 0).stemWords)
