"""JSON from whoever connects, decoded strictly (RFC 8259, without what its parsers disagree about)."""

import math
from typing import Any, Final

from pydantic_core import from_json

from memoryd.errors import InvalidRequest

INTEGER_MAX: Final = 2**63 - 1


def decode(body: bytes, *, max_depth: int = 32) -> Any:
    """Return the value of `body`, which must be UTF-8 JSON that is safe to hand on; else raise InvalidRequest.

    Refused: a byte order mark, lone surrogates, NaN and infinities (also written as 1e999), integers beyond 64 bits,
    more than `max_depth` levels. Of duplicate keys the last one counts. Time is linear in the body.
    """
    try:
        value = from_json(body, allow_inf_nan=False, cache_strings="none")
    except ValueError as exc:
        raise InvalidRequest(f"the body is not valid JSON: {exc}", hint="send UTF-8 without a byte order mark") from exc
    _check(value, max_depth)
    return value


def _check(value: Any, max_depth: int) -> None:
    """Walk level by level, not by recursion, which what was sent could make too deep."""
    level, depth = [value], 0
    while level:
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
            elif isinstance(item, float) and not math.isfinite(item):
                raise InvalidRequest("the body has a number that is not finite")
            elif isinstance(item, int) and not -INTEGER_MAX - 1 <= item <= INTEGER_MAX:
                raise InvalidRequest("the body has an integer of more than 64 bits")
        depth += any(isinstance(item, dict | list) for item in level)
        if depth > max_depth:
            raise InvalidRequest(f"the body nests more than {max_depth} levels")
        level = below
