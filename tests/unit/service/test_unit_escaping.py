"""Values in a unit file are escaped for systemd."""

import pytest

from memoryd.errors import InvalidRequest
from memoryd.service.systemd import full_value, program_word, quoted, service_unit


def test_spaces_and_specifiers_are_escaped() -> None:
    assert program_word("/a b/100%/$x/memoryd") == '"/a b/100%%/$x/memoryd"'
    assert '"/m" "-m $$HOME"' in service_unit("ExecStart=%h/.local/bin/memoryd", ["/m", "-m $HOME"], {})
    assert quoted('NAME=a "b" \\ %h') == '"NAME=a \\"b\\" \\\\ %%h"'
    assert full_value("/run/a b/%t.sock") == "/run/a b/%%t.sock"


def test_entry_of_a_list_of_paths_is_quoted() -> None:
    assert quoted("-/a b/100%") == '"-/a b/100%%"'
    assert quoted("-/a\"b'c\\d") == '"-/a\\"b\'c\\\\d"'


@pytest.mark.parametrize(
    "path", ["/with'quote/m", '/with"quote/m', "/back\\slash/m", "/two\nlines", "/bell\x07", "/\udcff"]
)
def test_program_that_systemd_would_refuse_is_refused(path: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        program_word(path)
    assert refused.value.hint


@pytest.mark.parametrize("path", ["/ends\\", "/ends ", "/a\rb", "/\udcff"])
def test_socket_path_that_a_line_cannot_hold_is_refused(path: str) -> None:
    with pytest.raises(InvalidRequest, match=r"unit cannot name|cannot be told"):
        full_value(path)
