import pytest

from memoryd.domain.gitignore import MAX_PATTERN_CHARS, MAX_PATTERNS, Patterns

LONG = "a" * 250


@pytest.mark.parametrize(
    ("lines", "path", "is_hidden"),
    [
        (["private/"], "memory/private/a.md", True),
        (["private/"], "memory/private", False),
        (["private/"], "memory/private/", True),
        (["private/", "!a.md"], "memory/private/a.md", True),
        (["*.md", "!a.md"], "memory/a.md", False),
        (["/a.md"], "memory/a.md", False),
        (["memory/**/a.md"], "memory/a.md", True),
        (["a?.md"], "memory/a日.md", True),
        (["[ä-ü].md"], "memory/ö.md", True),
        (["Tagebuch-ü.md"], "memory/Tagebuch-u\u0308.md", True),
        ([".*"], "../shared/a.md", False),
        (["shared"], "../shared/a.md", True),
        (["../shared/*.md"], "../shared/a.md", True),
        (["# a.md", "", "  ", r"\#b.md"], "#b.md", True),
        (["a.md  "], "a.md", True),
        (["a.md\\ "], "a.md", False),
        ([], "a.md", False),
    ],
)
def test_last_match_decides_and_nothing_comes_back_from_a_hidden_folder(
    lines: list[str], path: str, is_hidden: bool
) -> None:
    assert Patterns(lines).hides(path) == is_hidden


@pytest.mark.parametrize("pattern", ["[a", "a\\", "[[:what:]]", "[[:alpha:", "x" * (MAX_PATTERN_CHARS + 1)])
def test_pattern_without_a_meaning_is_named_with_its_line(pattern: str) -> None:
    (refused,) = Patterns(["# first", "drafts/", pattern]).refused
    assert (refused.line, refused.reason != "") == (3, True)
    assert Patterns([f"!{pattern}"]).refused == ()


def test_number_of_patterns_is_bounded() -> None:
    rules = Patterns([f"n{number}" for number in range(MAX_PATTERNS + 1)])
    assert [one.line for one in rules.refused] == [MAX_PATTERNS + 1]
    assert rules.hides(f"n{MAX_PATTERNS - 1}")


@pytest.mark.parametrize("pattern", ["*a" * 500 + "b", "**/*a" * 200 + "b", "[a]*" * 250 + "b", "?*" * 500 + "b"])
def test_no_pattern_takes_long(pattern: str) -> None:
    rules = Patterns([pattern] * 60)
    assert not rules.hides("/".join([LONG] * 4))
