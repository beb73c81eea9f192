"""Words for the keyword index: the same rule cuts notes and questions, so that what is written is what is found.

FTS5's `unicode61` splits at everything that is no letter or digit, which suits alphabets. Scripts without
spaces are cut here into overlapping pairs of characters first, and compound identifiers also into their parts.
"""

import re

_UNSPACED = (
    "\u3005\u3006\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\uac00-\ud7af\u1100-\u11ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
)
"""Chinese, Japanese and Korean, Thai, Lao, Burmese and Khmer."""
_RUN = re.compile(f"[{_UNSPACED}]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_COMPOUND = re.compile(r"[A-Za-z0-9]*(?:[a-z][A-Z]|[A-Za-z][0-9]|[0-9][A-Za-z])[A-Za-z0-9]*")
_WORD = re.compile(r"[^\W_]+")

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


def index_text(text: str) -> str:
    """Return what the keyword index stores for `text`: runs without spaces as character pairs, NULs as spaces."""
    if "\0" in text:
        text = text.replace("\0", " ")
    return text if text.isascii() else _RUN.sub(_spaced_pairs, text)


def identifier_parts(text: str) -> str:
    """Return the parts of the compound identifiers in `text` (`maxResults` → `max Results`), space-separated."""
    return " ".join(" ".join(_HUMP.split(word)) for word in dict.fromkeys(_COMPOUND.findall(text)))


def query_terms(question: str, *, limit: int = 64) -> list[str]:
    """Return the distinct terms of a question, in order, stop words left out unless nothing else is there."""
    words = [word for run in _split_runs(question) for word in run]
    distinct = list(dict.fromkeys(word.lower() for word in words))
    telling = [word for word in distinct if word not in STOP_WORDS]
    return (telling or distinct)[:limit]


def match_expression(terms: list[str]) -> str:
    """Return the FTS5 expression that finds any of the terms; each is quoted, so none is read as syntax."""
    return " OR ".join(f'"{term}"' for term in terms)


def _split_runs(text: str) -> list[list[str]]:
    return [_pairs(word) if _RUN.match(word) else [word] for word in _WORD.findall(_RUN.sub(r" \g<0> ", text))]


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]


def _spaced_pairs(match: re.Match[str]) -> str:
    return f" {' '.join(_pairs(match.group()))} "
