"""The file before validation: nested dicts and lists, and how to reach into them."""

from collections.abc import Iterator

Raw = dict[str, object]

KeyPath = tuple[int | str, ...]
"""Keys and list indexes from the root down."""


def value_at(raw: object, location: KeyPath) -> object:
    """Return what stands at `location`, or None where the way there ends."""
    for part in location:
        match raw, part:
            case dict(), str() if part in raw:
                raw = raw[part]
            case list(), int() if part < len(raw):
                raw = raw[part]
            case _:
                return None
    return raw


def texts_in(raw: object, place: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Yield every text in it, with its place below `place`."""
    match raw:
        case str():
            yield place, raw
        case dict():
            for key, value in raw.items():
                yield from texts_in(value, (*place, key))
        case list():
            for at, value in enumerate(raw):
                yield from texts_in(value, (*place, at))


def of_agent(location: KeyPath) -> KeyPath:
    """Return what stands behind `agents.defaults` or `agents.list[n]`; nothing if it is not an agent's."""
    match location:
        case ("agents", "defaults", *below) | ("agents", "list", int(), *below):
            return tuple(below)
    return ()
