"""Change the text of a configuration in place: mask its secrets, put them back, or name another folder.

Every other character stays. A masked secret becomes a reference to a variable that is not set,
`{"env": "MEMORYD_MASKED_1"}`, or `${MEMORYD_MASKED_1}` within a text such as an address with a password. So the
configuration stays valid, and a provider that needs the key reports it as missing.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import json5
from msgspec import Struct

from memoryd.config.loading.keys import dotted
from memoryd.config.loading.raw import KeyPath, Raw, parse, places, texts_in, value_at
from memoryd.config.paths import expand
from memoryd.config.section import VARIABLE
from memoryd.domain.expressions import expression
from memoryd.domain.redaction import redacted, secrets_in

_VARIABLE: Final = "MEMORYD_MASKED_"
_MASKED: Final = expression(rf'\{{"env": "{_VARIABLE}(\d+)"\}}')
_WITHIN: Final = expression(rf"\$\{{{_VARIABLE}\d+\}}")
_TOKEN: Final = expression(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""", re.DOTALL)
_COLON: Final = expression(r"\s*:")
_KEYS: Final = expression(r"(?:api_?key|token|secret|password|passphrase|credentials?|private_?key)\Z", re.IGNORECASE)
"""How the name of what is a key ends; `headers` holds nothing else."""


def masked_text(text: str) -> tuple[str, int]:
    """Return the text of a configuration without its keys, and how many were taken out.

    Raises ConfigError for what is no JSON5, and ValueError where a key would be left in it.
    """
    secrets = {value: _is_named(place) for place, value in _secrets(parse(text, Path("config")))}
    numbers = iter(range(1, len(text) + 1))
    taken: list[int] = []

    def without(found: re.Match[str]) -> str:
        token = found[0]
        if token.startswith("/"):
            return redacted(token)
        value = str(json5.loads(token))
        if value not in secrets or _COLON.match(text, found.end()):
            return token
        taken.append(next(numbers))
        name = f"{_VARIABLE}{taken[-1]}"
        # elsewhere a reference is no value that may stand there
        within = json.dumps(_without_secrets(value, name), ensure_ascii=False)
        return f'{{"env": "{name}"}}' if secrets[value] else within

    masked = _TOKEN.sub(without, text)
    if any(_secrets(parse(masked, Path("config")))):
        raise ValueError("its keys are written so that they cannot be told from the rest")
    return masked, len(taken)


def unmasked_text(text: str, present: Raw) -> tuple[str, list[str]]:
    """Return the text with the keys that stand at the same places of another one, and the places that have none there.

    Raises ConfigError for what is no JSON5.
    """
    raw = parse(text, Path("config"))
    texts = list(texts_in(raw))
    places = {name.removeprefix(_VARIABLE): place[:-1] for place, name in texts if place[-1:] == ("env",)}
    missing: list[str] = []

    def filled(found: re.Match[str]) -> str:
        place = places.get(found[1], ())
        value = value_at(present, place) if place and _is_same_agent(raw, present, place) else None
        if isinstance(value, (str, dict)) and value:
            return json.dumps(value, ensure_ascii=False)
        missing.append(dotted(place))
        return found[0]

    def filled_within(found: re.Match[str]) -> str:
        token = found[0]
        if token.startswith("/") or not _WITHIN.search(token):
            return token
        said = str(json5.loads(token))
        place = next((place for place, value in texts if value == said), ())
        value = value_at(present, place) if place and _is_same_agent(raw, present, place) else None
        if isinstance(value, str) and _is_masked_of(said, value):
            return json.dumps(value, ensure_ascii=False)
        missing.append(dotted(place))
        return token

    return _TOKEN.sub(filled_within, _MASKED.sub(filled, text)), missing


def _is_masked_of(said: str, value: str) -> bool:
    """Tell whether a text is another one without its secrets."""
    return _WITHIN.sub("", said) == _WITHIN.sub("", _without_secrets(value, f"{_VARIABLE}0"))


def _without_secrets(value: str, name: str) -> str:
    pieces, at = [], 0
    for secret in secrets_in(value):
        pieces += [value[at : secret.start], f"${{{name}}}"]
        at = secret.end
    return "".join([*pieces, value[at:]])


def _secrets(raw: object) -> Iterator[tuple[KeyPath, str]]:
    """Yield all that is, or looks like, a key, with its place; a reference to one is none."""
    for place, value in texts_in(raw):
        is_said = bool(value.strip()) and not VARIABLE.fullmatch(value.strip())
        if (_is_named(place) and is_said) or secrets_in(value):
            yield place, value


def _is_named(place: KeyPath) -> bool:
    """Tell whether what stands at a place is a key by its name, so that a reference may stand there."""
    names = [name for name in place if isinstance(name, str)]
    return bool(names) and (_KEYS.search(names[-1]) is not None or "headers" in names[-2:-1])


def _is_same_agent(one: Raw, other: Raw, place: KeyPath) -> bool:
    """Tell whether the items of lists on the way have the same ids: the second agent may be another one by now."""
    above = [place[: at + 1] for at, part in enumerate(place) if isinstance(part, int)]
    return all(_id(value_at(one, way)) == _id(value_at(other, way)) for way in above)


def _id(value: object) -> object:
    return value.get("id") if isinstance(value, dict) else None


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


def renamed(text: str, changes: list[FolderNaming]) -> str:
    """Return the text with other folders in the stead of those; comments and all else stay."""
    by_said = {one.said: one.instead for one in changes}

    def changed(found: re.Match[str]) -> str:
        token = found[0]
        said = "" if token.startswith("/") else str(json5.loads(token))
        return json.dumps(by_said[said], ensure_ascii=False) if said in by_said else token

    return _TOKEN.sub(changed, text)


def _instead(said: str, base: Path, old: Path, new: Path) -> str | None:
    if "/" not in said and said not in (".", "..") and not said.startswith("~"):
        return None
    real = Path(os.path.realpath(expand(said, base)))
    if "\0" in said or not real.is_relative_to(old):
        return None
    path = new / real.relative_to(old)
    is_short = said.startswith("~") and path.is_relative_to(Path.home())
    return f"~/{path.relative_to(Path.home())}" if is_short else str(path)
