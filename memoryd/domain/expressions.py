"""Regular expressions that are compiled on first use, since most of our programs use few of them; and word sets."""

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
            # later look-ups do not reach `__getattr__`
            setattr(self, known, getattr(compiled, known))
        return getattr(compiled, name)


def expression(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern like `re.compile`, compiled on first use; an invalid pattern raises re.error only then."""
    return cast(re.Pattern[AnyStr], _Deferred(pattern, flags))


def caseless(pattern: AnyStr) -> re.Pattern[AnyStr]:
    """Return an `expression` that ignores case."""
    return expression(pattern, re.IGNORECASE)


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, separated by white space."""
    return frozenset(text.split())
