"""Words for the keyword index, spelling normalisation, stems, and statements.

Notes and questions are split by the same rule, so that a question matches what is written. FTS5's `unicode61` splits
at everything that is no letter, digit or mark, which suits alphabets. Before that, scripts without spaces are split
here into overlapping pairs of characters, and compound identifiers also into their parts.

Normalisation covers widths, quotation marks, wrapped lines and emphasis. What might be a fact is not changed: case,
accents, signs, digits, passwords.

A statement is the set of significant words without negations, and the number of negations. Only explicit wording
counts, English and Chinese: not, never, no longer, don't, cannot · 不, 不再, 从不, 没, 未. What only looks like a
negation (not only, 不错, 没关系, 是不是) is ignored. Statements select what a person should read; they decide nothing.

FTS5 stems every word with the English Porter stemmer (https://www.sqlite.org/fts5.html#porter_tokenizer). Two
additions let a question match other forms of its words:

- Some words must not be stemmed: *his* becomes *hi*, and *use* becomes *us*. One word of each such pair gets a MARK
  at its end, which the stemmer does not touch.
- Words of other languages get a second stem by Snowball (https://snowballstem.org) if it differs from Porter's. What
  a word matches without the second stem, it still matches.

Accents are removed before stemming, because many people do not type them. Of the pairs of forms that Snowball unites
with accents, it still unites all in German, and nine in ten in Spanish.
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
"""Chinese, Japanese and Korean, Thai, Lao, Burmese and Khmer: for a character class of a pattern."""
UNSPACED_RUN = expression(f"[{UNSPACED}]+")
_LONG_RUN_AT_END = expression(f"[{UNSPACED}]{{2}}\\Z")
_HUMP = expression(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_MIXED = expression(r"(?<![A-Za-z0-9])(?!(?:[A-Z]*[a-z]*|[0-9]+)(?![A-Za-z0-9]))[A-Za-z0-9]+")
"""A word that is not just digits, nor just letters with the capitals first."""
_SILENT = expression(
    "[\u00ad\u200b-\u200d\u2060\ufeff\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
"""Characters that are often omitted: soft hyphens, zero-width signs, the vowel signs of Hebrew and Arabic."""
_ACCENT = expression("[\u0300-\u036f](?<![иИ][\u0300-\u036f])")
"""Accents of Latin, Greek and Cyrillic, except that of й, a letter of its own. The lookbehind is tested last."""
_SIGN = expression(
    "[\x80-\xbf\xd7\xf7\u061c\u2010-\u2064\u2066-\u206f\u20a0-\u20cf\u218a\u218b\u2190-\u23ff\u2500-\u2775\u2794-\u2bff\u2e00-\u2e2e"
    "\u2e30-\u2e7f\u3001-\u3004\u3008-\u3020\u3030\U0001f000-\U0001f0ff\U0001f10d-\U0001fbef]"
)
"""Signs and emoji: FTS5 treats some as no letters; others are missing from its tables, of Unicode 6.1."""
_ASCII = bytes(range(0x80))
_SIGNS_AS_BLANKS = bytes(byte if byte >= 0x80 or chr(byte).isalnum() else ord(" ") for byte in range(0x100))
_SHAPES = bytes(
    ord("a" if sign.islower() else "A" if sign.isupper() else "0" if sign.isdigit() else " ")
    if sign < "\x80"
    else ord(" ")
    for sign in map(chr, range(0x100))
)
_HUMP_OF_SHAPES = expression(rb"[A0](?:(?<=a.)|(?<=A0)|(?<=0)[aA])")
"""Begins with the rarer byte, so that the search skips most of a text."""
_JOINED = expression(r"(?<!\w)\w+(?:[-_./:@#\\+]+\w+)+")
_CODED = expression(r"[0-9_./:@#\\]")
_CODE = expression(r"(?:(?=[a-z]*[0-9])(?=[0-9]*[a-z])[a-z0-9]{5,}|[0-9]{5,}|[a-f]{5,})\Z")
"""Letters with digits, a long number, or what may be the start of a hash without digits."""
_NUMBER = expression(r"[0-9]{3,4}\Z")
_WORD = expression(r"[^\W_]+")

Phrase = tuple[str, ...]
"""Words that follow each other, as `phrase_words` splits them."""
MAX_PHRASE_WORDS = 8
"""The index takes time by the length of a phrase; a longer one is searched for by its words alone."""

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
"""Not the ones that are also English words (`die`, `war`, `den`), programs or abbreviations: `dir`, `du`, `DER`,
`MIT`."""
STOP_WORDS = frozenset((_ENGLISH + _GERMAN + _CHINESE_AND_JAPANESE).split())

_GREETINGS = "hi hello hey hiya howdy thanks thank thx please pls ok okay btw lol"
GREETINGS = frozenset(_GREETINGS.split())
"""Words around a question that are rare in notes: by their rarity they would get the greatest weight."""
_GREETING = expression(
    "请问|請問|谢谢|謝謝|多谢|你好|您好|大家好|对了(?!解)|對了(?!解)|顺便|順便|麻烦你|麻煩你|拜托|拜託|哈哈+|嗯+"
)

_PARTICLE = expression(f"(?<=[{UNSPACED}])(?<!目)的(?![士确])(?=[{UNSPACED}])")
"""The Chinese `of`, which ends a word: pairs across it are meaningless, and frequent in notes."""


def normalised(text: str) -> str:
    """Return the text in one spelling: plain widths (NFKC), without accents and often omitted signs."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    if _ACCENT.search(others := _others(apart)):
        apart = _ACCENT.sub("", apart)
    # compose the frequent й first: most texts are then in NFC, which is quick to check
    composed = unicodedata.normalize("NFC", apart.replace("и\u0306", "й").replace("И\u0306", "Й"))
    return _SILENT.sub("", composed) if _SILENT.search(others) else composed


def _others(text: str) -> str:
    """Return the characters outside ASCII; they are usually few, which makes searches for them cheap."""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


def index_text(text: str) -> str:
    """Return what the keyword index stores for `text`: runs without spaces as character pairs, NULs as spaces.

    The last character of a run also follows alone, so that every character of the run begins a word.
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
    """Return the words of a text in order, as the keyword index stores them, separated by blanks.

    They are split and spelled as in `index_text`, in lower case, and marked.
    """
    plain = index_text(text).lower()
    data = plain.encode("utf-8", "surrogatepass")
    words = data.translate(_SIGNS_AS_BLANKS).decode("utf-8", "surrogatepass").split()
    if not plain.isascii() and not _others(plain).isalnum():
        # a sign may be next to a word that must be marked
        return mark_unstemmed(" ".join(words))
    return " ".join(map(NOT_STEMMED.get, words, words))


def identifier_parts(text: str) -> str:
    """Return the parts of the compound identifiers in `text` (`maxResults` → `max Results`), space-separated."""
    shapes = text.encode("utf-8", "surrogatepass").translate(_SHAPES)
    if not _HUMP_OF_SHAPES.search(shapes):
        return ""
    mixed = dict.fromkeys(_MIXED.findall(text))
    return " ".join(_HUMP.sub(" ", word) for word in mixed if _HUMP.search(word))


def query_terms(question: str, *, limit: int = 64) -> list[str]:
    """Return the distinct terms of a question in order; stop words and greetings only if it has nothing else."""
    apart = _PARTICLE.sub(" ", normalised(question))
    bare = _distinct(apart if apart.isascii() else _GREETING.sub(" ", apart))
    significant = [word for word in bare if word not in STOP_WORDS and word not in GREETINGS]
    return (significant or _distinct(apart))[:limit]


def _distinct(text: str) -> list[str]:
    return list(dict.fromkeys(word.lower() for word in _cut(text)))


def joined_phrases(question: str) -> list[Phrase]:
    """Return the words of each compound that is written without spaces: dates, paths, error numbers.

    Words joined only by hyphens are not returned: counting them twice lowers recall where names are hyphenated.
    """
    coded = (joined for joined in _JOINED.findall(normalised(question)) if _CODED.search(joined))
    phrases = (tuple(phrase_words(joined)) for joined in coded)
    return [words for words in dict.fromkeys(phrases) if 1 < len(words) <= MAX_PHRASE_WORDS]


def is_code(term: str) -> bool:
    """Return whether a term is an identifier, a number or a hash: people often give only the first five characters."""
    return _CODE.match(term) is not None


def is_number(term: str) -> bool:
    """Return whether a term is a number of three or four digits, for example a year; longer ones are codes."""
    return _NUMBER.match(term) is not None


def is_single_character(term: str) -> bool:
    """Return whether a term is one character of a script without spaces, which the index stores in pairs."""
    return len(term) == 1 and UNSPACED_RUN.match(term) is not None


def is_unspaced(text: str) -> bool:
    """Return whether most of a text is in a script without spaces; other words count as two characters."""
    apart = normalised(text)
    signs = sum(len(run) for run in UNSPACED_RUN.findall(apart))
    return signs > 0 and signs >= 2 * len(_split(UNSPACED_RUN.sub(" ", apart)))


def phrase_words(text: str) -> list[str]:
    """Return the words of a phrase in order, as the index stores them, with stop words and repetitions.

    The last character of a run without spaces follows alone, except at the end, where the run may continue.
    """
    words = [word.lower() for word in _split(index_text(text))]
    return words[:-1] if _LONG_RUN_AT_END.search(normalised(text)) else words


def spoken_words(text: str) -> list[str]:
    """Return the words of a text in order, runs without spaces only as pairs."""
    return [word.lower() for word in _cut(normalised(text))]


def _cut(text: str) -> list[str]:
    """Return the words of a text in order, runs without spaces as pairs."""
    spaced = UNSPACED_RUN.sub(r" \g<0> ", text)
    return [part for word in _split(spaced) for part in (_pairs(word) if UNSPACED_RUN.match(word) else [word])]


def _split(text: str) -> list[str]:
    """Split a text at the same characters as FTS5."""
    if text.isascii():
        return _WORD.findall(text)
    # letters, numbers and marks, as in the `categories` of the index's tokenizer
    return "".join(sign if unicodedata.category(sign)[0] in "LNM" else " " for sign in text).split()


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else list(map(add, run, run[1:]))


def _spaced_pairs(match: TextMatch) -> str:
    run = match[0]
    return f" {' '.join(map(add, run, run[1:]))} {run[-1]} "


HAN = "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese and Japanese, which wrap without a space: for a character class of a pattern."""
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
_PLAIN_SIGNS = {chr(code): sign or "" for code, sign in (_WIDE | _QUOTES | _INVISIBLE | {0x3000: " "}).items()}
_OTHER_SIGN = expression(f"[{''.join(_PLAIN_SIGNS)}]")

_MARK_BEFORE, _MARK_AFTER = rf"(?<![^\s\"'(\[{HAN}、。])", rf"(?![^\s\"')\],.;:!?{HAN}、。])"
_STARS = expression(rf"{_MARK_BEFORE}(\*{{1,3}})(?=[^\W_]|[\"'(\[{HAN}])([^*\n]*[^\s*])\1{_MARK_AFTER}")
_UNDERLINES = expression(rf"{_MARK_BEFORE}(_{{1,3}})(?=[^\W_][^_\s]*+\s)([^_\n]*(?:\n[^_\n]*)?[^\s_])\1{_MARK_AFTER}")
WRAP = "\v"
"""Replaces the line end of a wrapped line."""
_SPACE = f"[ {WRAP}]"
_IDLE_SPACE = expression(
    rf"{_SPACE}(?:(?<=[{HAN}]{_SPACE})(?=[A-Za-z0-9,.;:!?()])|(?<=[A-Za-z0-9,.;:!?()。、]{_SPACE})(?=[{HAN}]))"
    rf"|{WRAP}(?<=[{HAN}]{WRAP})(?=[{HAN}])"
)
_LETTERS_OF_A_WORD = 2


def plain_characters(text: str) -> str:
    """Return the text with plain widths and quotation marks, composed (NFC), without invisible signs."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _OTHER_SIGN.sub(lambda match: _PLAIN_SIGNS[match[0]], text))


def is_secret(text: str) -> bool:
    """Return whether a text mentions passwords and the like, so that every character may matter."""
    folded = text.lower()
    return any(word in folded for word in _SECRETS)


def without_emphasis(text: str) -> str:
    """Return the text without the marks of bold and italic words; those of products, powers and names remain."""
    bare = _STARS.sub(_inner, text) if "*" in text else text
    return _UNDERLINES.sub(r"\2", bare) if "_" in bare else bare


def unwrapped(text: str) -> str:
    """Return the text with a space for each WRAP, or nothing where Chinese wraps or meets another script."""
    return (text if text.isascii() else _IDLE_SPACE.sub("", text)).replace(WRAP, " ")


def _inner(match: TextMatch) -> str:
    # a number or a letter between single stars may be a factor
    is_doubtful = len(match[1]) == 1 and sum(map(str.isalpha, match[2])) < _LETTERS_OF_A_WORD
    return match[0] if is_doubtful else match[2]


MAX_CHARS = 2000
"""Only the beginning of a longer text counts."""
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
"""Shorter words are not stripped of a verb ending: `gas`, `bus`."""


class Statement(Struct, frozen=True):
    """The significant words of a text, with English verbs in one form, and the number of negations."""

    words: frozenset[str]
    negations: int

    @property
    def is_negated(self) -> bool:
        """Whether the number of negations is odd."""
        return self.negations % 2 == 1


def statement_of(text: str) -> Statement:
    """Return the statement of a text, in time linear in its length."""
    text_lower = _IDLE.sub(lambda match: " " * len(match[0]), plain_characters(text[:MAX_CHARS]).lower())
    # a Chinese negation is inside a run: removing it gives the same pairs as the run without it
    bare, count = _NEGATION.subn(lambda match: "" if match["han"] else " ", text_lower)
    words = spoken_words(bare)
    significant = frozenset(_base_form(word) for word in words if word not in STOP_WORDS)
    return Statement(significant or frozenset(words), count)


def _base_form(word: str) -> str:
    if word in _FORMS:
        return _FORMS[word]
    if not word.isascii() or len(word) < _SHORTEST or word.endswith("ss") or not word.endswith("s"):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(_SIBILANTS) else word[:-1]


MARK = "\ue000"
"""A private use character: FTS5 treats it as part of a word, and notes do not contain it."""
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
"""The stemmed languages other than English, and their Snowball names."""
LEAST_LETTERS = 4
"""Least letters of a stemmed word: a shorter one would lose its meaning."""
_LEAST_LETTERS_LEFT = 3

_NOT_STEMMED = """
ac ae ag ah al andes ap ar at ate au aw ay ba bi bios bo bu by ca ce ci cms co cu da de di dos ea ed ef eh el em en ep
er es et ev ew ex ey fa fe fi fps fri ga ge gi gps gui ha har herring hi ho ia ic ide ii il io ir ja jo ju ka ki ko ku
la le len li lo lu ly ma mi mo mrs mu na ne neg news ni nu ny ob oc od oh ok ol om ov ow ox oy pa pe pi po pu ra rel
ri ro ru sa se sed si skies sms sos spi su sy ta te thus ti tos tri tu ty ub uh uk ul um un ups ur us ut va ve vi vo
vu wa wed wi wit wo wy xa xe xi xo xu ya ye yo yu za ze zi zo zu
"""
"""Words of two letters that are the stem of unrelated words, and words with the stem of an unrelated one: hi and his,
US and use, new and news, guy and GUI. Not *ad*, *go* and the like, whose other forms are related."""
NOT_STEMMED = {word: f"{word}{MARK}" for word in _NOT_STEMMED.split()}
_ENDINGS = {
    "fr": (expression(r"ees?\Z"), "e"),
    "pt": (expression(r"[ao]es\Z"), "ao"),
}
"""Endings that Snowball recognises by their accents (née, ações), and their replacement."""
_LETTERS = expression(rf"(?<![^\W_])[^\W\d_]{{{LEAST_LETTERS},}}(?![^\W_])")


def mark_unstemmed(text: str) -> str:
    """Return a text in lower case with a MARK at each word that FTS5 must not stem."""
    return _WORD.sub(lambda match: NOT_STEMMED.get(match[0], match[0]), text)


def stems_of(text: str, language: str) -> list[str]:
    """Return the stems of a text's words that differ from those of FTS5, in order; empty for other languages.

    The text is in lower case, split and spelled as in `index_text`. `language` is a code as from `language_of`.
    """
    if language not in STEMMERS:
        return []
    words = _LETTERS.findall(text)
    if language in _ENDINGS:
        ending, other = _ENDINGS[language]
        words = [ending.sub(other, word) for word in words]
    english = _stemmer("porter")
    stems = _stemmer(STEMMERS[language])(words)
    triples = zip(stems, english(words), english(stems), strict=True)
    return [stem for stem, plain, again in triples if plain != again and len(stem) >= _LEAST_LETTERS_LEFT]


def query_stems(word: str, languages: Sequence[str]) -> list[str]:
    """Return the distinct stems that are also searched for a word of a question, without stop words."""
    stems = [stem for language in languages for stem in stems_of(word, language) if stem not in STOP_WORDS]
    return list(dict.fromkeys(stems))


COMPOUNDING = "de"
"""The language that writes compounds as one word."""
LEAST_PREFIX = 6
"""Least letters of a word that is searched as a prefix, and of the first part of a compound."""
_LEAST_REST, _LONGEST = 3, 40
"""Least letters of the rest of a compound, and most letters of a word that may be one."""


def compound_beginnings(word: str) -> list[str]:
    """Return the possible first parts of a compound; most of them are no words.

    The last parts are not returned: they are words of another meaning (Vermieter and Mieter).
    """
    ends = range(LEAST_PREFIX, len(word) - _LEAST_REST + 1) if len(word) <= _LONGEST else ()
    return [start for at in ends if (start := word[:at]) not in STOP_WORDS and start not in NOT_STEMMED]


@cache
def _stemmer(name: str) -> Callable[[Sequence[str]], list[str]]:
    # here: an English workspace does not need it
    from Stemmer import Stemmer

    # the second argument disables the cache, which would retain words of notes
    return cast(Callable[[Sequence[str]], list[str]], Stemmer(name, 0).stemWords)
