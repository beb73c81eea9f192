"""Validation that goes on after a mistake: what is wrong is taken out, so that all that is wrong is told at once."""

from dataclasses import dataclass, field
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from memoryd.config.loading.range import brought_into_range
from memoryd.config.loading.raw import KeyPath, Raw, value_at
from memoryd.config.loading.wording import explain
from memoryd.config.root import Config

PASSES: Final = 8
REQUIRED: Final = {"id": "unnamed-{}", "path": "/nowhere/{}", "action": "deny"}
"""Keys without a default; an agent and its socket keep their places in the lists, by which they are told."""


@dataclass(slots=True)
class Mended:
    """What could be read: a configuration without what is wrong, None if nothing could be made of it."""

    config: Config | None = None
    problems: list[str] = field(default_factory=list)
    broken: list[KeyPath] = field(default_factory=list)
    """Where the values stood that were taken out."""
    notices: list[str] = field(default_factory=list)


def mended(raw: Raw) -> Mended:
    """Validate the file, which is changed to what could be read of it."""
    result = Mended()
    for _ in range(PASSES):
        try:
            result.config = Config.model_validate(raw, by_alias=True, by_name=False)
            break
        except ValidationError as error:
            _mend(error, raw, result)
    return result


def _mend(error: ValidationError, raw: Raw, result: Mended) -> None:
    """Bring numbers into their range first; what is left are problems, told as the file has them."""
    found = [(_location(details), details) for details in error.errors(include_url=False)]
    notices = [line for place, details in found if (line := brought_into_range(details, place, raw)) is not None]
    result.notices += notices
    if notices:
        return
    # what comes after the first time comes of the mending
    if not result.broken:
        result.problems = explain(error, Config)
    for place, _ in found:
        result.broken.append(_without(place, raw, len(result.broken)))


def _location(details: ErrorDetails) -> KeyPath:
    return tuple(part for part in details["loc"] if part != "[key]")


def _without(place: KeyPath, raw: Raw, number: int) -> KeyPath:
    """Take a value out with its key, or put a harmless one where there must be one; return where that was."""
    *above, key = place
    holder = value_at(raw, tuple(above))
    if isinstance(holder, list) and isinstance(key, int) and above == ["agents", "list"]:
        holder[key] = {"id": REQUIRED["id"].format(number)}
    elif not isinstance(holder, dict):
        return _without(tuple(above), raw, number) if above else place
    elif above and isinstance(above[-1], int) and key in REQUIRED:
        holder[str(key)] = REQUIRED[str(key)].format(number)
    else:
        holder.pop(str(key), None)
    return place
