"""Regular expressions that are compiled when they are first used: most programs of ours use few of them. And sets of
words, written as one text."""

import re
from typing import Any, AnyStr, cast

TextMatch = re.Match[str]


class _Deferred:
    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        for known in ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer", "flags", "groups"):
            # from now on found without coming here
            setattr(self, known, getattr(compiled, known))
        return getattr(compiled, name)


def expression(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern as `re.compile` does, with its methods; one that is wrong raises re.error when first used."""
    return cast(re.Pattern[AnyStr], _Deferred(pattern, flags))


def caseless(pattern: AnyStr) -> re.Pattern[AnyStr]:
    """Return what `expression` does of a pattern that matches in any case."""
    return expression(pattern, re.IGNORECASE)


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, which have blanks between."""
    return frozenset(text.split())
