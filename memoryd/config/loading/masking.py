"""Change the text of a configuration in place: mask its secrets, restore them, or name another folder.

All other characters stay. A masked secret becomes a reference to a variable that is not set,
`{"env": "MEMORYD_MASKED_1"}`, or `${MEMORYD_MASKED_1}` within a text such as an address with a password. So the
configuration stays valid, and a provider that needs the key reports it as missing.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from memoryd.config.loading.keys import dotted
from memoryd.config.loading.raw import KeyPath, Raw, parse, places, texts_in, value_at
from memoryd.config.paths import expand
from memoryd.config.section import VARIABLE
from memoryd.domain.expressions import expression
from memoryd.domain.redaction import redacted, secrets_in
from memoryd.domain.settings_text import TOKEN, put

_VARIABLE = "MEMORYD_MASKED_"
_NAME = f"{_VARIABLE}0"
_WITHIN = expression(rf"\$\{{{_VARIABLE}\d+\}}")
_KEYS = expression(r"(?:api_?key|token|secret|password|passphrase|credentials?|private_?key)\Z", re.IGNORECASE)
"""How the name of a key ends; all values of `headers` are keys."""


def masked_text(text: str) -> tuple[str, int]:
    """Return the text of a configuration without its keys, and how many were taken out.

    Raises ConfigError for what is no JSON5, and ValueError where a key would be left in it.
    """
    secrets = list(_secrets(parse(text, Path("config"))))
    masked = TOKEN.sub(lambda token: redacted(token[0]) if token.lastgroup == "skipped" else token[0], text)
    for number, (place, value) in enumerate(secrets, start=1):
        name = f"{_VARIABLE}{number}"
        # a reference is a valid value of a key alone
        instead = {"env": name} if _is_key(place) else _without_secrets(value, name)
        masked = put(masked, list(map(str, place)), instead, is_json5=True)
    if any(_secrets(parse(masked, Path("config")))):
        raise ValueError("its keys are written so that they cannot be told from the rest")
    return masked, len(secrets)


def unmasked_text(text: str, present: Raw) -> tuple[str, list[str]]:
    """Return the text with the keys of `present` at the same places, and the places that have no key there.

    Raises ConfigError for what is no JSON5.
    """
    raw, missing = parse(text, Path("config")), list[str]()
    for at, masked in texts_in(raw):
        is_key = at[-1:] == ("env",) and masked.startswith(_VARIABLE)
        if not (is_key or _WITHIN.search(masked)):
            continue
        place = at[:-1] if is_key else at
        value = value_at(present, place) if _is_same_agent(raw, present, place) else None
        # the present text must be the same but for its secrets
        is_same = isinstance(value, str) and _WITHIN.sub("", masked) == _WITHIN.sub("", _without_secrets(value, _NAME))
        if value and (is_same or (is_key and isinstance(value, str | dict))):
            text = put(text, list(map(str, place)), value, is_json5=True)
        else:
            missing.append(dotted(place))
    return text, missing


def _without_secrets(value: str, name: str) -> str:
    pieces, at = [], 0
    for secret in secrets_in(value):
        pieces += [value[at : secret.start], f"${{{name}}}"]
        at = secret.end
    return "".join([*pieces, value[at:]])


def _secrets(raw: object) -> Iterator[tuple[KeyPath, str]]:
    """Yield all texts that are, or look like, keys, with their places; not the references to keys."""
    for place, value in texts_in(raw):
        is_explicit = bool(value.strip()) and not VARIABLE.fullmatch(value.strip())
        if (_is_key(place) and is_explicit) or secrets_in(value):
            yield place, value


def _is_key(place: KeyPath) -> bool:
    """Tell whether the value at a place is a key by its name, and may be a reference."""
    names = [name for name in place if isinstance(name, str)]
    return bool(names) and (_KEYS.search(names[-1]) is not None or "headers" in names[-2:-1])


def _is_same_agent(one: Raw, other: Raw, place: KeyPath) -> bool:
    """Tell whether the items of lists on the way have the same ids: the second agent may be another one by now."""
    ids = [(*place[: at + 1], "id") for at, part in enumerate(place) if isinstance(part, int)]
    return all(value_at(one, at) == value_at(other, at) for at in ids)


class FolderNaming(Struct, frozen=True):
    """A line that names a folder, or what lies in it, and what it would say instead."""

    key: str
    line: int
    said: str
    instead: str


def namings(text: str, file: Path, old: Path, new: Path) -> list[FolderNaming]:
    """Return what of a configuration names a folder (a real path) that becomes another one; raises ConfigError."""
    lines = places(text)
    found = []
    for location, said in texts_in(parse(text, file)):
        if (instead := _instead(said, file.absolute().parent, old, new)) is not None:
            place = lines.near(location)
            found.append(FolderNaming(dotted(location), place.line if place else 0, said, instead))
    return found


def _instead(said: str, base: Path, old: Path, new: Path) -> str | None:
    if "/" not in said and said not in (".", "..") and not said.startswith("~"):
        return None
    real = Path(os.path.realpath(expand(said, base)))
    if "\0" in said or not real.is_relative_to(old):
        return None
    path = new / real.relative_to(old)
    is_short = said.startswith("~") and path.is_relative_to(Path.home())
    return f"~/{path.relative_to(Path.home())}" if is_short else str(path)
