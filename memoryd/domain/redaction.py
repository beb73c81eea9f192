"""Take secrets out of a text before anything of it is kept: turns, transcripts, captures and logs pass here.

What is left of a long token, its first six and last four characters, tells a person which one it was, as OpenClaw
leaves it; of passwords and private keys nothing is left.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from memoryd.domain.secret_names import named_secrets
from memoryd.domain.secret_shapes import FoundSecret, SecretKind, known_secrets

_FIRST, _LAST = 6, 4
_MIN_HIDDEN: Final = 16
"""A token of which fewer characters would stay hidden is hidden whole."""
_HIDDEN: Final = "***"
_PASSES: Final = 6
_BETWEEN: Final = "\0"


def redacted(text: str) -> str:
    """Return the text with every secret masked; what is masked already stays as it is.

    Redact before a text is cut into pieces: a half of a secret looks like nothing. The time grows with the length of
    the text alone.
    """
    for _ in range(_PASSES):
        # what is masked may bare its neighbour: `…curl -u` is a command where `AbCcurl -u` was none
        masked = _without(text, secrets_in(text))
        if masked == text:
            break
        text = masked
    return text


def redacted_joined(pieces: Sequence[str]) -> str:
    """Return the pieces of a text put together, with every secret masked of one or of several of them.

    So nothing hides behind what was taken out between them: a colour may begin right before a secret, or within one.
    """
    joined, apart = "".join(pieces), _BETWEEN.join(pieces)
    cuts = [at for at, sign in enumerate(apart) if sign == _BETWEEN]
    moved = [
        FoundSecret(one.start - bisect_left(cuts, one.start), one.end - bisect_left(cuts, one.end), one.kind)
        for one in (secrets_in(apart) if cuts else ())
    ]
    return redacted(_without(joined, _apart(sorted([*secrets_in(joined), *moved]))))


def secrets_in(text: str) -> list[FoundSecret]:
    """Return the secrets of a text in order, apart from each other."""
    found = chain(known_secrets(text), named_secrets(text))
    return list(_apart(sorted(secret for secret in found if secret.start < secret.end)))


def _without(text: str, secrets: Iterable[FoundSecret]) -> str:
    pieces, at = [], 0
    for secret in secrets:
        pieces += [text[at : secret.start], _masked(text[secret.start : secret.end], secret.kind)]
        at = secret.end
    return "".join([*pieces, text[at:]])


def _apart(secrets: Iterable[FoundSecret]) -> Iterable[FoundSecret]:
    """Join those that overlap, as a kind of which nothing is told unless all cover the same characters."""
    last: FoundSecret | None = None
    for secret in secrets:
        if last is None or secret.start >= last.end:
            if last is not None:
                yield last
            last = secret
        elif (secret.start, secret.end) != (last.start, last.end):
            is_within = secret.end <= last.end and last.kind is SecretKind.PRIVATE_KEY
            kind = last.kind if is_within else SecretKind.PASSWORD
            last = FoundSecret(last.start, max(last.end, secret.end), kind)
    if last is not None:
        yield last


def _masked(secret: str, kind: SecretKind) -> str:
    if kind is SecretKind.PRIVATE_KEY:
        return "…"
    if kind is SecretKind.CARD:
        return f"…{secret[-_LAST:]}"
    if kind is SecretKind.TOKEN and len(secret) >= _FIRST + _LAST + _MIN_HIDDEN:
        return f"{secret[:_FIRST]}…{secret[-_LAST:]}"
    return _HIDDEN
