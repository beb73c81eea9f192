"""The question that a failed tool call asks of the memory: specific words of the error, and the programs that were run.

Of an output only the lines about the error count, or its last ones. Paths, stack frames, numbers, hashes, times and
masked secrets are removed, because they differ each time; so are the words of any error message, which would match
every note about any failure. The same failure gives the same question, so that it can be recognised.

A lesson, a failure or a procedure is included if it shares two words with the question, not only the name of the
program; any other memory needs as much evidence as for a message without an explicit question.
"""

import re
from collections.abc import Collection, Iterator

from memoryd.domain.expressions import caseless, expression, word_set
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.unasked.messages import MessageParts
from memoryd.domain.redaction import redact
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.domain.text.words import UNSPACED_RUN, query_terms

HELPFUL = (Kind.LESSON, Kind.FAILURE, Kind.PROCEDURE)
"""Kinds of memories that come first, and need less evidence than others."""
LEAST_OF_OTHERS = 2.2
"""Least evidence for a memory of another kind, in log-odds."""
_CHARS = 20_000
_LINES, _PROGRAMS, _LINE_WORDS, _WORD_CHARS = 4, 3, 24, 100

_FRAME = expression(
    r'\s*+(?:File ".*", line \d|at\s+\S+.*[:(]|\S+\.(?:go|rs|c|cc|cpp):\d+ \+0x|\d+:\s+0x|goroutine \d|Traceback\b'
    r"|[~^\s|]+\Z|(?:\d+\s*)?\|)"
)
_ERROR_SIGN = caseless(
    r"\b(?:\w*error|\w*exception|fail(?:ed|ure|s)?|fatal|panic(?:ked)?|cannot|can't|could not|couldn't|unable|denied"
    r"|refused|rejected|conflicts?|not \w+|no \w+|un(?:known|defined|expected|supported|resolved)|invalid|missing"
    r"|time(?:d )?out|expired|abort(?:ed)?|E[A-Z]{4,}|must|required|mismatch)\b"
    r"|错误|失败|无法|异常|拒绝|找不到|不存在|超时"
)
_PATH = expression(
    r"(?:\b[A-Za-z]:[\\/]|\b[a-z]+://|(?<![\w.])~?/|\.{1,2}/|(?<![\w.-])[\w.-]++/(?=[\w.@-]+/))[^\s\"'`:,;()<>]*"
    r"|(?<![\w.-])[\w.-]++/[\w-]+\.\w{1,5}\b"
)
_FILE_PLACE = expression(r"(?<=\w):\d+(?::\d+)?\b|::\w+")
_NOISE = caseless(
    r"(?<!\S)(?=\S*?(?:…|\*\*\*))\S+|(?:…|\*\*\*)\S*"  # what is masked
    r"|\b\d{4}-\d\d-\d\d(?:[T ][\d:.,+Z]+)?|\b\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?"
    r"|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b0x[0-9a-f]+\b"
    r"|(?<![\w-])[-+]?\d[\d.,:]{0,200}(?:%|[kmgt]i?b|m?s|min)?(?![\w-])"
)
_WORD = expression(r"@?[^\W_][\w.@/+#-]*[^\W_]|[^\W_]")
_GENERAL = word_set("""
error errors err exception exceptions fail fails failed failing failure failures fatal panic panicked warning warn
cannot can't could couldn't not no none unable is was were are be been has have had the a an of in on at to for from
with by and or but if this that it its as when while after before during because due see more most recent call last
found such file files directory folder path exit exited status code codes return returned returns command commands
process program line lines column raised raise thrown throw caused cause unknown undefined unexpected invalid missing
expected got given instead please try again retry run running help usage information info details message log logs
open read write access requested request response url input output argument arguments option value values type
object name null nil undefined true false
stderr stdout errno traceback stack core dumped aborted abort terminated stopped ended signal
test tests testing assert assertionerror passed skipped
you your we our may must should need needed needs required use using used
错误 失败 无法 异常
""")
_WRAPPERS = word_set("sudo env time nohup exec command bash sh zsh xargs then do true")
_BESIDE = word_set("cd export set source echo")
_SEPARATOR = expression(r"&&|\|\|?|[;\n]")
_ASSIGNED = expression(r"\w+=\S*\Z")
_PLAIN = expression(r"[A-Za-z][\w.-]*\Z")


def failure_question(command: str, error: str) -> str:
    """Return the question of a failure: a line of programs, then one for each error line; empty if there is none.

    `command` is the tool's input. Secrets are removed from both.
    """
    output = harmless_text(redact(error[:_CHARS]))
    programs = " ".join(_programs(harmless_text(redact(command[:_CHARS]))))
    error_lines = dict.fromkeys(filter(None, map(_own_words, _error_lines(output))))
    if set(" ".join(error_lines).lower().split()) <= set(programs.lower().split()):
        return ""
    return "\n".join([programs, *error_lines])


def failure_message(question: str) -> MessageParts:
    """Return the message for the question of a failure."""
    return MessageParts(tuple(filter(None, question.split("\n"))))


def is_relevant_to_failure(kind: Kind | None, terms: Collection[str], score: float, question: str) -> bool:
    """Return whether an item is included for a failure, by its kind, its terms of the question, and its score."""
    programs, _, own = question.partition("\n")
    is_about = len(terms) > 1 and not set(query_terms(own)).difference(query_terms(programs)).isdisjoint(terms)
    return is_about and (kind in HELPFUL or score >= LEAST_OF_OTHERS)


def _error_lines(output: str) -> list[str]:
    """Return lines about the error: the first two and the last two, because programs differ in where they report it."""
    lines = [line.strip() for line in output.split("\n") if line.strip() and not _FRAME.match(line)]
    error_lines = [line for line in lines if _ERROR_SIGN.search(line)] or lines[-2:]
    return error_lines if len(error_lines) <= _LINES else error_lines[: _LINES // 2] + error_lines[-(_LINES // 2) :]


def _own_words(line: str) -> str:
    plain = _NOISE.sub(" ", _FILE_PLACE.sub(" ", _PATH.sub(" ", line)))
    parts = (part for word in _WORD.findall(plain) for part in _parts(word))
    words = dict.fromkeys(word for word in parts if word.lower() not in _GENERAL and not _is_bare(word))
    return " ".join(list(words)[:_LINE_WORDS])


def _parts(word: str) -> list[str]:
    """Return a word, or its parts if one of them is general: `stripe.error.CardError`."""
    parts = word.split(".")
    return parts if any(part.lower() in _GENERAL for part in parts) else [word]


def _is_bare(word: str) -> bool:
    """Return whether a word is a single character, or too long for a word, such as encoded data."""
    return (len(word) < 2 and not UNSPACED_RUN.search(word)) or len(word) > _WORD_CHARS


def _programs(command: str) -> Iterator[str]:
    """Yield the programs of a command line, with their first argument if it is a word: `git push`, `docker compose`."""
    programs = dict[str, None]()
    for part in _SEPARATOR.split(command):
        words = [word for word in part.split() if not _ASSIGNED.match(word) and word not in _WRAPPERS]
        if not words or words[0] in _BESIDE:
            continue
        name = re.split(r"[\\/]", words[0])[-1]
        if not _PLAIN.match(name):
            continue
        does = words[1] if len(words) > 1 and _PLAIN.match(words[1]) and "." not in words[1] else ""
        programs[f"{name} {does}".strip()] = None
    yield from list(programs)[-_PROGRAMS:]
