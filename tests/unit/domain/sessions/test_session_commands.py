"""Slash commands in messages of a user."""

import inspect
import re
from typing import get_args, get_type_hints

import pytest

from memoryd.agents.turns.turns import TurnCommands
from memoryd.domain.sessions.turns import SLASH_COMMANDS, CommandName, SlashCommand, SpokenCommand, command_of
from memoryd.hooks.hook_run import COMMANDS
from memoryd.replies.conversations import TurnCommandReply
from tests.docs.reference import render
from tests.package_trees import ROOT

REMEMBER, RECALL, FORGET, COMPACT = SLASH_COMMANDS


@pytest.mark.parametrize(
    ("message", "row", "text"),
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
        ("/forget喝茶", FORGET, "喝茶"),
        ("/remember", REMEMBER, ""),
        ("/compact", COMPACT, ""),
        ("/compact please", COMPACT, "please"),
    ],
)
def test_command_is_parsed(message: str, row: SlashCommand, text: str) -> None:
    assert command_of(message) == SpokenCommand(row, text)


@pytest.mark.parametrize(
    "message",
    [
        *(
            "/foo bar",
            "/remembered that",
            "/forgetting that",
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
def test_other_text_is_no_command(message: str) -> None:
    assert command_of(message) is None


def test_long_text_is_parsed_quickly() -> None:
    assert command_of("/remember " + "a" * 100_000) == SpokenCommand(REMEMBER, "a" * 100_000)
    assert command_of("/" + "a" * 100_000) is None
    assert command_of(" " * 100_000) is None


def test_all_lists_of_commands_agree() -> None:
    names = tuple(row.name for row in SLASH_COMMANDS)
    assert names == get_args(CommandName) == COMMANDS
    assert names == get_args(get_type_hints(TurnCommandReply)["name"])
    methods = {name for name, one in vars(TurnCommands).items() if inspect.iscoroutinefunction(one)}
    assert methods == {"run", *names}
    for name in names:
        inspect.signature(getattr(TurnCommands, name)).bind(None, text="", admitted=None, key="", scope="")
    page = render("commands.md").partition("## In a message")[2]
    listed = re.findall(r"^\| `/(\w+)(?: (\w+))?` \|", page, re.MULTILINE)
    assert listed == [(row.name, row.takes) for row in SLASH_COMMANDS]
    assert all(bool(row.takes) == bool(row.without) for row in SLASH_COMMANDS)
    explanation = (ROOT.parent / "docs" / "explanation" / "conversations.md").read_text()
    assert all(f"`{f'/{row.name} {row.takes}'.strip()}`" in explanation for row in SLASH_COMMANDS)
