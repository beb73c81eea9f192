import pytest

from memoryd.domain.patterns import MAX_PATTERN_CHARS, MAX_PATTERNS, Patterns

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
def test_last_match_decides_except_in_hidden_folder(lines: list[str], path: str, is_hidden: bool) -> None:
    assert Patterns(lines).hides(path) == is_hidden


@pytest.mark.parametrize(
    "line",
    [
        *("./memory/private/", "memory//private/", "/memory/./private", "private//", "memory\uff0fprivate\uff0f"),
        *('"private/"', "'private/'", "`private`", "“private/”", "private/ # my own", "private/\t# my own"),
        *('"memory//private/" # my own', "  private/", "\ufeffprivate/", "\u200bprivate/"),
        *(f"private/{tail}" for tail in "\t\v\f\u00a0\u3000\u200b\u2060\ufeff\u00ad"),
        *(r"memory\private", r"memory\private\**", r"memory\private\a.md"),
        *("memory/private/a.md/", "memory/private/*.md/", "memory/{drafts,private}/", "{memory,bank}/{x,private}/*"),
        *("memory/public/../private/", "../notes/memory/private/", "~/notes/memory/private/", '"~/notes/**/private"'),
        *("/home/me/notes/memory/private/", '"/home/me/notes/memory/private/" # mine', "private/\u00a0 \t"),
    ],
)
def test_sloppy_pattern_hides_the_intended_file(line: str) -> None:
    rules = Patterns([line], folder="/home/me/notes", home="/home/me")
    assert rules.hides("memory/private/a.md")
    assert not rules.hides("memory/public/a.md")
    assert rules.refused == ()


@pytest.mark.parametrize("line", ["~/shared/*.md", "/home/me/shared/", "memory/../../shared/a.md"])
def test_path_outside_workspace_hides_listed_files(line: str) -> None:
    rules = Patterns([line], folder="/home/me/notes", home="/home/me")
    assert rules.hides("../shared/a.md")
    assert not rules.hides("shared/a.md")


@pytest.mark.parametrize("line", ["Memory/PRIVATE/", "memory/Private/*.MD", "MEM[[:upper:]]RY/private", "[L-N]emory"])
def test_case_matters_as_on_the_file_system(line: str) -> None:
    assert Patterns([line], folds_case=True).hides("memory/private/A.md")
    assert not Patterns([line]).hides("memory/private/A.md")


@pytest.mark.parametrize(
    ("line", "path"), [("a #b.md", "a #b.md"), ('"a".md', '"a".md'), (" a.md", " a.md"), ("a.md\u00a0", "a.md\u00a0")]
)
def test_pattern_also_matches_literally(line: str, path: str) -> None:
    assert Patterns([line]).hides(path)


@pytest.mark.parametrize("line", ['"!a.md"', " !a.md", "!a.md # b", "!./a.md", "!a.md\u00a0"])
def test_sloppy_negation_reveals_nothing(line: str) -> None:
    assert Patterns(["*.md", line]).hides("a.md")


@pytest.mark.parametrize("line", ["./", "//", "# a // b", " # a.md", "\\#a.md", "a\\ # b"])
def test_sloppy_pattern_does_not_hide_everything(line: str) -> None:
    rules = Patterns([line])
    assert not rules.hides("a.md")
    assert rules.refused == ()


@pytest.mark.parametrize(
    "pattern", ["[a", "a\\", "[[:what:]]", "[[:alpha:", "{a,b}" * 6, "x" * (MAX_PATTERN_CHARS + 1)]
)
def test_invalid_pattern_is_reported_with_its_line(pattern: str) -> None:
    (refused,) = Patterns(["# first", "drafts/", pattern]).refused
    assert (refused.line, refused.reason != "") == (3, True)
    assert Patterns([f"!{pattern}"]).refused == ()


def test_number_of_patterns_is_bounded() -> None:
    rules = Patterns([f"n{number}" for number in range(MAX_PATTERNS + 1)])
    assert [one.line for one in rules.refused] == [MAX_PATTERNS + 1]
    assert rules.hides(f"n{MAX_PATTERNS - 1}")


@pytest.mark.parametrize("pattern", ["*a" * 500 + "b", "**/*a" * 200 + "b", "[a]*" * 250 + "b", "?*" * 500 + "b"])
def test_hostile_pattern_matches_fast(pattern: str) -> None:
    rules = Patterns([pattern] * 60)
    assert not rules.hides("/".join([LONG] * 4))
