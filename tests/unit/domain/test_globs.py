import pytest

from memoryd.domain.patterns import fixed_part, is_glob, matches


@pytest.mark.parametrize(
    ("pattern", "path", "is_match"),
    [
        ("/home/ann/projects/*/notes", "/home/ann/projects/one/notes", True),
        ("/home/ann/projects/*/notes", "/home/ann/projects/one/two/notes", False),
        ("/home/ann/projects/*/notes", "/home/ann/projects/one/notes/a.md", False),
        ("/home/ann/projects/*/notes", "/home/ann/projects/.one/notes", False),
        ("/home/ann/projects/.*/notes", "/home/ann/projects/.one/notes", True),
        ("/srv/o*.md", "/srv/one.md", True),
        ("/srv/o*.md", "/srv/two.md", False),
        ("/srv/?[0-9].md", "/srv/a1.md", True),
        ("/srv/**/*.md", "/srv/one.md", True),
        ("/srv/**/*.md", "/srv/a/b/one.md", True),
        ("/srv/**/*.md", "/srv/.git/one.md", False),
        ("/srv/**", "/srv", True),
        ("/srv/**", "/srv/a/b", True),
    ],
)
def test_pattern_matches_as_in_the_shell(pattern: str, path: str, is_match: bool) -> None:
    assert matches(pattern, path) is is_match


def test_pattern_with_many_parts_matches_fast() -> None:
    assert not matches("/**" * 60 + "/x", "/a" * 200)


def test_fixed_part_is_folder_above_first_wildcard() -> None:
    assert fixed_part("/home/ann/projects/*/notes") == "/home/ann/projects"
    assert fixed_part("/*/notes") == "/"
    assert fixed_part("/srv/o*.md") == "/srv"
    assert is_glob("a?")
    assert not is_glob("/plain/path")
