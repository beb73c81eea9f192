"""The names of the keys: which a section has, how they are written as one path, and which is near to a wrong one."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, get_args

from memoryd.config.section import Section

NEAR: Final = 0.75
"""Least likeness (difflib ratio) of a name to be suggested."""


def dotted(location: Sequence[int | str]) -> str:
    """Write a location as people do: `agents.list[0].memorySearch`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return text.removeprefix(".")


def own_keys(section: type[Section]) -> dict[str, object]:
    """Return the keys of a section as the file spells them, each with the type of its value."""
    return {field.alias or name: field.annotation for name, field in section.model_fields.items()}


def section_at(root: type[Section], location: Iterable[int | str]) -> type[Section] | None:
    """Return the section whose keys stand at `location`, or None if there is none."""
    section: type[Section] | None = root
    is_entered = False
    for part in location:
        if section is None:
            return None
        if is_entered:
            is_entered = False
            continue
        annotation = own_keys(section).get(str(part))
        section = _section_in(annotation)
        is_entered = _is_collection(annotation)
    return section


def all_keys(root: type[Section], prefix: str = "") -> Iterator[str]:
    """Walk every key below a section, without list indexes: `agents.list.id`; a map's names count as `*`."""
    for key, annotation in own_keys(root).items():
        below = _section_in(annotation)
        path = f"{prefix}{key}"
        yield path
        if below is not None:
            yield from all_keys(below, f"{path}.*." if _is_map(annotation) else f"{path}.")


def nearest(name: str, section: type[Section]) -> str:
    """Return the key that was probably meant by `name`, or an empty text.

    First the section's own keys, then a key of exactly that name deeper in it (`maxResults` for
    `query.maxResults`).
    """
    lowered = {key.lower(): key for key in own_keys(section)}
    plain = name.replace("_", "").replace("-", "").lower()
    near = difflib.get_close_matches(plain, lowered, n=1, cutoff=NEAR)
    if near:
        return lowered[near[0]]
    deeper = (path for path in all_keys(section) if path.rpartition(".")[2].lower() == plain and "*" not in path)
    return next(deeper, "")


def _section_in(annotation: object) -> type[Section] | None:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    return next((found for part in get_args(annotation) if (found := _section_in(part)) is not None), None)


def _is_map(annotation: object) -> bool:
    return getattr(annotation, "__origin__", None) is dict


def _is_collection(annotation: object) -> bool:
    return getattr(annotation, "__origin__", None) in (dict, tuple)
