"""Notes are rendered as HTML from Markdown, without raw HTML and hidden characters."""

import time
from collections.abc import Iterator
from datetime import date, timedelta

import pytest

from memoryd.web.rendering import ago, clip, note, note_line, reveal_hidden, size


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**tea** and `code`", "<strong>tea</strong> and <code>code</code>"),
        ("<b onclick=x>tea</b>", "&lt;b onclick=x&gt;tea&lt;/b&gt;"),
        ("[go](javascript:alert(1))", "[go](javascript:alert(1))"),
        ("[go](data:text/html,x)", "[go](data:text/html,x)"),
        ("[go](vbscript:x)", "[go](vbscript:x)"),
        ("[go](notes.md)", '<a rel="noopener noreferrer">go</a>'),
        ("[go](//evil.example)", '<a rel="noopener noreferrer">go</a>'),
        ('[go](https://a.example "t")', '<a href="https://a.example" title="t" rel="noopener noreferrer">go</a>'),
        ("<https://a.example/\"onclick='x>", '<a href="https://a.example/%22onclick=\'x" rel="noopener noreferrer">'),
        ("![p](https://a.example/p.png)", '!<a href="https://a.example/p.png" rel="noopener noreferrer">p</a>'),
        ("喝绿茶 & more", "喝绿茶 &amp; more"),
        ("&#x202e;x &#8238;", "[U+202E]x [U+202E]"),
        ("tag \U000e0041 and \u200f mark", "tag [U+E0041] and [U+200F] mark"),
        ("👩\u200d🔧", "👩\u200d🔧"),
    ],
)
def test_line_of_a_note(text: str, html: str) -> None:
    assert note_line(text).startswith(html)


def test_blocks_of_a_note_are_rendered_without_raw_html() -> None:
    html = note(
        "# Title\n\n| a | b |\n|---|---|\n| 1 | <script>x</script> |\n\n```js\nalert(1)\n```\n<iframe src=x></iframe>"
    )
    assert "<h1>Title</h1>" in html
    assert "<td>&lt;script&gt;x&lt;/script&gt;</td>" in html
    assert "<code>alert(1)\n</code>" in html
    assert "<iframe" not in html


def test_invisible_and_direction_characters_are_named() -> None:
    assert reveal_hidden("a\u202eb\u2066c\u200bd\x00") == "a[U+202E]b[U+2066]c[U+200B]d[U+0000]"
    assert reveal_hidden("a\u2061b\u115fc\u180ed\U000e0100e\uffa0f\u034f") == (
        "a[U+2061]b[U+115F]c[U+180E]d[U+E0100]e[U+FFA0]f[U+034F]"
    )
    assert reveal_hidden("❤\ufe0f\ufe01\ufe00") == "❤\ufe0f[U+FE01][U+FE00]"
    assert reveal_hidden("שלום\tا\n") == "שלום\tا\n"


def test_long_text_is_cut_and_says_so() -> None:
    assert clip("x" * 1_000_000, 10) == "xxxxxxxxxx … (999,990 more characters)"
    assert clip("xy", 2) == "xy"


def test_times_are_relative_with_the_exact_one_beside() -> None:
    today = date.today()  # noqa: DTZ011
    past = ((0, "today"), (1, "yesterday"), (9, "9 days ago"), (90, "3 months ago"), (900, "2 years ago"))
    for days, words in ((-2, "in 2 days"), (-1, "tomorrow"), *past):
        day = (today - timedelta(days)).isoformat()
        assert ago(day) == f'<time datetime="{day}" title="{day}">{words}</time>'
    assert ago("0001-01-01") == '<time datetime="0001-01-01" title="0001-01-01">0001-01-01</time>'
    assert ago(None) == "never"
    assert ">just now<" in ago(time.time())


@pytest.fixture
def far_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A local time far from UTC."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_exact_time_is_local(far_zone: None) -> None:
    assert 'title="2026-11-20 08:30:00+09:00"' in ago("2026-11-19T23:30:00Z")


def test_windows_line_end_is_no_hidden_character() -> None:
    assert reveal_hidden("tea\r\ncake\r") == "tea\ncake"
    assert reveal_hidden("tea\rcake") == "tea[U+000D]cake"


def test_definition_of_a_reference_is_shown() -> None:
    assert "[x]: http://a 'text'" in note("[x]: http://a 'text'\n")
    assert "[tea]: https://a.example" in note("Some [tea].\n\n[tea]: https://a.example")


def test_sizes_are_rounded() -> None:
    assert [size(count) for count in (0, 999, 1500, 2e6, 3.25e9)] == ["0 B", "999 B", "1.5 kB", "2.0 MB", "3.2 GB"]
