"""Commands in what a user says."""

import pytest

from memoryd.domain.sessions.commands import CommandName, SpokenCommand, command_of

REMEMBER, RECALL, COMPACT = CommandName.REMEMBER, CommandName.RECALL, CommandName.COMPACT


@pytest.mark.parametrize(
    ("said", "name", "text"),
    [
        ("/remember I drink tea", REMEMBER, "I drink tea"),
        ("  /Remember   two\nlines  ", REMEMBER, "two\nlines"),
        ("/REMEMBER@my_bot tea", REMEMBER, "tea"),
        ("／remember 我叫东升", REMEMBER, "我叫东升"),
        ("/remember我叫东升", REMEMBER, "我叫东升"),
        ("／ｒｅｃａｌｌ　茶", RECALL, "茶"),
        ("/remember：我喝茶", REMEMBER, "我喝茶"),
        ("/recall: which tea?", RECALL, "which tea?"),
        ("\u200b/recall tea", RECALL, "tea"),
        ("/remember", REMEMBER, ""),
        ("/compact", COMPACT, ""),
        ("/compact please", COMPACT, "please"),
    ],
)
def test_command_is_read(said: str, name: CommandName, text: str) -> None:
    assert command_of(said) == SpokenCommand(name, text)


@pytest.mark.parametrize(
    "said",
    [
        *(
            "/foo bar",
            "/remembered that",
            "/remember/me",
            "/recall.txt",
            "/recall-all",
            "/",
            "//recall x",
            "/ recall x",
        ),
        *("please /remember this", "remember this", "", "/recollect x", "/remember2 x", "\\remember x", "/home/me"),
    ],
)
def test_what_is_no_command_is_plain_text(said: str) -> None:
    assert command_of(said) is None


def test_long_text_is_read_at_once() -> None:
    assert command_of("/remember " + "a" * 100_000) == SpokenCommand(REMEMBER, "a" * 100_000)
    assert command_of("/" + "a" * 100_000) is None
    assert command_of(" " * 100_000) is None
