"""Code, status and exit code of each error class match the tree in the docstring of the module."""

import re
from collections.abc import Iterator

from memoryd import errors
from memoryd.errors import MemorydError, error_for_code
from memoryd.wire import ErrorCode

ROW = re.compile(
    r"^(?P<branch>[│├└─ ]*)(?P<name>[A-Z]\w+) +(?P<code>[a-z_]{6,})? *(?P<status>\d{3})? *(?P<exit>\d{1,2})? "
)


def drawn() -> Iterator[tuple[str, str, ErrorCode, int, int]]:
    """Yield class, parent, code, status and exit code of each line of the tree; empty columns are inherited."""
    above: list[tuple[str, ErrorCode, int, int]] = []
    for line in (errors.__doc__ or "").splitlines():
        if (found := ROW.match(line)) is None or not hasattr(errors, found["name"]):
            continue
        depth = len(found["branch"]) // 4
        name, code, status, exit_code = above[depth - 1] if depth else ("", ErrorCode.INTERNAL, 0, 0)
        own = ErrorCode(found["code"] or code), int(found["status"] or status), int(found["exit"] or exit_code)
        above[depth:] = [(found["name"], *own)]
        yield found["name"], name, *own


def kinds(kind: type[MemorydError] = MemorydError) -> Iterator[type[MemorydError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from kinds(below)


def test_tree_matches_the_classes() -> None:
    ours = [kind for kind in kinds() if kind.__module__ == errors.__name__]
    assert len(ours) > 20
    assert sorted(drawn()) == sorted(
        (kind.__name__, parent_of(kind), kind.code, kind.http_status, int(kind.exit_code)) for kind in ours
    )


def parent_of(kind: type[MemorydError]) -> str:
    return "" if kind is MemorydError else kind.__bases__[0].__name__


def test_every_code_becomes_an_exception_with_that_code() -> None:
    for code in ErrorCode:
        error = error_for_code(code, "it cannot be", hint="do this")
        assert (error.code, str(error), error.hint) == (code, "it cannot be", "do this")
        assert 400 <= error.http_status < 600


def test_each_code_has_one_status_except_for_slow_requests() -> None:
    pairs = {(kind.code, kind.http_status) for kind in kinds() if kind is not errors.SlowRequest}
    assert len(pairs) == len(ErrorCode)
