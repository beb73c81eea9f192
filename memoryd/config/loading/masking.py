"""Edit the text of a configuration: mask its secrets, restore them, or list the values that name a folder.

All other characters stay unchanged. A masked secret becomes a reference to an unset variable,
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
from memoryd.domain.redaction import redact, secrets_in
from memoryd.domain.settings_text import TOKEN, set_value

_VARIABLE = "MEMORYD_MASKED_"
_NAME = f"{_VARIABLE}0"
_WITHIN = expression(rf"\$\{{{_VARIABLE}\d+\}}")
_KEYS = expression(r"(?:api_?key|token|secret|password|passphrase|credentials?|private_?key)\Z", re.IGNORECASE)
"""End of the name of a setting that is a secret; all values of `headers` are secrets, too."""


def mask_text(text: str) -> tuple[str, int]:
    """Return the text of a configuration with its secrets masked, and their number.

    Raises ConfigError if the text is not JSON5, and ValueError if a secret could not be masked.
    """
    secrets = list(_secrets(parse(text, Path("config"))))
    masked = TOKEN.sub(lambda token: redact(token[0]) if token.lastgroup == "skipped" else token[0], text)
    for number, (place, value) in enumerate(secrets, start=1):
        name = f"{_VARIABLE}{number}"
        # a reference is only valid as the value of a secret setting
        instead = {"env": name} if _is_key(place) else _without_secrets(value, name)
        masked = set_value(masked, list(map(str, place)), instead, is_json5=True)
    if any(_secrets(parse(masked, Path("config")))):
        raise ValueError("its keys are written so that they cannot be distinguished from the other text")
    return masked, len(secrets)


def unmask_text(text: str, present: Raw) -> tuple[str, list[str]]:
    """Replace masked secrets by those of `present` at the same locations; return the text and the unrestored locations.

    Raises ConfigError if the text is not JSON5.
    """
    raw, missing = parse(text, Path("config")), list[str]()
    for at, masked in texts_in(raw):
        is_key = at[-1:] == ("env",) and masked.startswith(_VARIABLE)
        if not (is_key or _WITHIN.search(masked)):
            continue
        place = at[:-1] if is_key else at
        value = value_at(present, place) if _is_same_agent(raw, present, place) else None
        # apart from the secrets, the present value must be the same text
        is_same = isinstance(value, str) and _WITHIN.sub("", masked) == _WITHIN.sub("", _without_secrets(value, _NAME))
        if value and (is_same or (is_key and isinstance(value, str | dict))):
            text = set_value(text, list(map(str, place)), value, is_json5=True)
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
    """Yield all texts that are, or look like, secrets, with their locations; references to secrets are skipped."""
    for place, value in texts_in(raw):
        is_explicit = bool(value.strip()) and not VARIABLE.fullmatch(value.strip())
        if (_is_key(place) and is_explicit) or secrets_in(value):
            yield place, value


def _is_key(place: KeyPath) -> bool:
    """Return whether a location is a secret setting by its name; its value may then be a reference."""
    names = [name for name in place if isinstance(name, str)]
    return bool(names) and (_KEYS.search(names[-1]) is not None or "headers" in names[-2:-1])


def _is_same_agent(raw: Raw, present: Raw, place: KeyPath) -> bool:
    """Return whether all list items on the path have the same ids: the second agent may be a different agent now."""
    ids = [(*place[: at + 1], "id") for at, part in enumerate(place) if isinstance(part, int)]
    return all(value_at(raw, at) == value_at(present, at) for at in ids)


class FolderReference(Struct, frozen=True):
    """A value that is a folder or a path in it, its line in the file, and the new value."""

    key: str
    line: int
    said: str
    instead: str


def folder_references(text: str, file: Path, old: Path, new: Path) -> list[FolderReference]:
    """Return the values that name the folder `old` (a real path), or a path in it, with their values for `new`.

    Raises ConfigError if the text is not JSON5.
    """
    key_places = places(text)
    results = []
    for location, value in texts_in(parse(text, file)):
        if (instead := _instead(value, file.absolute().parent, old, new)) is not None:
            place = key_places.near(location)
            results.append(FolderReference(dotted(location), place.line if place else 0, value, instead))
    return results


def _instead(value: str, base: Path, old: Path, new: Path) -> str | None:
    if "/" not in value and value not in (".", "..") and not value.startswith("~"):
        return None
    real = Path(os.path.realpath(expand(value, base)))
    if "\0" in value or not real.is_relative_to(old):
        return None
    path = new / real.relative_to(old)
    is_short = value.startswith("~") and path.is_relative_to(Path.home())
    return f"~/{path.relative_to(Path.home())}" if is_short else str(path)
