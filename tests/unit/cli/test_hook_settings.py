"""Hooks are added to and removed from the settings of agent programs; everything else keeps its bytes."""

import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.cli.local import hook_settings
from memoryd.domain.settings_text import parse_settings
from memoryd.hooks.hosts import DEFAULT, HOSTS, Host

CODEX, GEMINI, CURSOR = (HOSTS[name] for name in ("codex", "gemini", "cursor"))
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
COMMANDS = {event: f"/usr/bin/python3 -P -m memoryd.hooks {event}" for event in EVENTS}
OTHERS = {"type": "command", "command": "./check.sh; grep -rn '-m memoryd.hooks' .", "timeout": 30}
FULL = {
    "model": "opus",
    "ratio": 1.50,
    "permissions": {"allow": ["Bash(git *)"], "deny": []},
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [OTHERS]}],
        "Stop": [{"hooks": [OTHERS, {"type": "command", "command": "echo héllo 你好"}]}],
    },
    "env": {},
}
TEXTS = {
    "two spaces": json.dumps(FULL, indent=2, ensure_ascii=False) + "\n",
    "tabs": json.dumps(FULL, indent="\t"),
    "one line": json.dumps(FULL),
    "tight": json.dumps(FULL, separators=(",", ":")),
    "windows": json.dumps(FULL, indent=4).replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + json.dumps(FULL, indent=2),
    "mixed": '{"a": 1.0,\n "hooks" : { "Stop":[ ] },  "b": [1,2 , 3]}\n\n',
    "no hooks": '{\n  "model": "opus",\n  "big": 1e5\n}\n',
    "empty hooks": '{\n  "hooks": {}\n}\n',
}


def with_hooks(text: str, commands: dict[str, str], host: Host = DEFAULT) -> str:
    return hook_settings.with_hooks(text, host, commands)


def without_hooks(text: str, host: Host = DEFAULT) -> str:
    return hook_settings.without_hooks(text, host)


def our_commands(text: str, host: Host = DEFAULT) -> dict[str, str]:
    return hook_settings.our_commands(text, host)


def is_nothing(text: str) -> bool:
    return parse_settings(text) == {}


def groups(text: str) -> dict[str, list[object]]:
    found: dict[str, list[object]] = json.loads(text.lstrip("\ufeff"))["hooks"]
    return found


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_hooks_are_added_once_and_everything_else_keeps_its_bytes(text: str) -> None:
    changed = with_hooks(text, COMMANDS)
    assert our_commands(changed) == COMMANDS
    assert with_hooks(changed, COMMANDS) == changed
    before, after = json.loads(text.lstrip("\ufeff")), json.loads(changed.lstrip("\ufeff"))
    assert {key: after[key] for key in before if key != "hooks"} == {k: v for k, v in before.items() if k != "hooks"}
    assert list(after)[: len(before)] == list(before)
    for event, found in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(found)] == found, "the hooks of others stay, and come first"
    kept = iter(changed)
    assert all(sign in kept for sign in text.rstrip("\r\n \t}")), "nothing is removed or moved"


@pytest.mark.parametrize("name", [name for name in TEXTS if name not in ("mixed", "empty hooks")])
def test_removing_hooks_restores_the_text(name: str) -> None:
    assert without_hooks(with_hooks(TEXTS[name], COMMANDS)) == TEXTS[name]


def test_empty_lists_that_held_our_hooks_are_removed_with_them() -> None:
    assert json.loads(without_hooks(with_hooks(TEXTS["mixed"], COMMANDS))) == {"a": 1.0, "b": [1, 2, 3]}
    assert is_nothing(without_hooks(with_hooks("", COMMANDS)))
    assert is_nothing(without_hooks(with_hooks(TEXTS["empty hooks"], COMMANDS)))


def test_new_text_follows_the_indentation_of_the_file() -> None:
    text = with_hooks('{\n    "model": "opus"\n}\n', {"Stop": COMMANDS["Stop"]})
    handler = {"type": "command", "command": COMMANDS["Stop"], "timeout": 5}
    whole = {"model": "opus", "hooks": {"Stop": [{"hooks": [handler]}]}}
    assert text == json.dumps(whole, indent=4) + "\n"


def test_new_commands_replace_our_earlier_ones() -> None:
    moved = {event: command.replace("/usr/bin", "/opt/bin") for event, command in COMMANDS.items()}
    text = with_hooks(with_hooks(TEXTS["two spaces"], COMMANDS), moved)
    assert our_commands(text) == moved
    assert "/usr/bin" not in text
    older = with_hooks("{}", {"Stop": "memoryctl hooks run Stop"})
    assert our_commands(older) == {"Stop": "memoryctl hooks run Stop"}
    assert our_commands(with_hooks(older, COMMANDS)) == COMMANDS


def test_our_hook_is_removed_from_a_group_of_others() -> None:
    ours = {"type": "command", "command": COMMANDS["Stop"]}
    text = json.dumps({"hooks": {"Stop": [{"matcher": "", "hooks": [OTHERS, ours, OTHERS]}, {"odd": 1}, 7]}}, indent=2)
    left = {"hooks": {"Stop": [{"matcher": "", "hooks": [OTHERS, OTHERS]}, {"odd": 1}, 7]}}
    assert without_hooks(text) == json.dumps(left, indent=2)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"a": 1,}',
        "[]",
        '"hooks"',
        "{} {}",
        "// comment\n{}",
        '{"hooks": []}',
        '{"hooks": {"Stop": {}}}',
        '{"hooks": {}, "hooks": {}}',
        '{"hooks": {"Stop": [], "Stop": []}}',
        '{"a": ' + "[" * 100_000,
    ],
)
def test_invalid_settings_are_refused(text: str) -> None:
    for change in (lambda: with_hooks(text, COMMANDS), lambda: without_hooks(text), lambda: our_commands(text)):
        with pytest.raises(ValueError):
            change()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
handlers = st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=10)})
hooks = st.dictionaries(
    st.sampled_from([*EVENTS, "PreToolUse", ""]),
    st.lists(st.fixed_dictionaries({"hooks": st.lists(handlers, max_size=2)}) | values, min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)


@given(
    st.dictionaries(st.text(max_size=5).filter(lambda key: key != "hooks"), values, max_size=3),
    st.none() | hooks,
    st.sampled_from([None, 1, 2, 4, "\t"]),
)
def test_any_settings_are_restored_by_removal(
    rest: dict[str, object], found: dict[str, object] | None, indent: int | str | None
) -> None:
    whole = {**rest, "hooks": found} if found is not None else rest
    text = json.dumps(whole, indent=indent)
    changed = with_hooks(text, COMMANDS)
    assert our_commands(changed) == COMMANDS
    assert json.loads(without_hooks(changed)) == whole
    if rest:
        assert without_hooks(changed) == text


COMMENTED = """{
  // how it looks
  "theme": "Default", /* for now */
  "mcpServers": {
    "other": {"command": "other", "args": ["//no comment", "a,]"],},
  },
  "hooks": {
    "BeforeAgent": [
      {"hooks": [{"type": "command", "command": "say"}]}, // mine
    ],
  },
  // the end
}
"""
GEMINI_COMMANDS = {event: f"python3 -P -m memoryd.hooks {event} --host gemini" for event in GEMINI.events}


@pytest.mark.parametrize("text", [COMMENTED, COMMENTED.replace("\n", "\r\n"), "{ // empty\n}\n", "{}", '{"a": [1,],}'])
def test_comments_stay_in_place(text: str) -> None:
    changed = with_hooks(text, GEMINI_COMMANDS, GEMINI)
    assert our_commands(changed, GEMINI) == GEMINI_COMMANDS
    kept = iter(changed)
    assert all(sign in kept for sign in text.rstrip("\r\n \t}"))
    for comment in ("// how it looks", "/* for now */", "// mine", "// the end"):
        assert text.count(comment) == changed.count(comment)
    left = without_hooks(changed, GEMINI)
    assert parse_settings(left, has_comments=True) == parse_settings(text, has_comments=True)
    if len(text) > 20:
        assert left == text


def test_comment_between_our_hooks_and_others_is_kept() -> None:
    text = with_hooks('{\n  "a": 1\n}\n', GEMINI_COMMANDS, GEMINI).replace('"a": 1,', '"a": 1, // one')
    assert without_hooks(text, GEMINI) == '{\n  "a": 1 // one\n}\n'
    text = text.removesuffix("\n}\n") + ', // two\n  "b": 2\n}\n'
    assert without_hooks(text, GEMINI) == '{\n  "a": 1, // one\n  // two\n  "b": 2\n}\n'


@pytest.mark.parametrize("text", ["", "{}", '{"version": 1, "hooks": {"stop": [{"command": "x"}]}}'])
def test_handlers_have_the_form_of_their_program(text: str) -> None:
    commands = {event: f"python3 -P -m memoryd.hooks {event} --host cursor" for event in CURSOR.events}
    changed = with_hooks(text, commands, CURSOR)
    whole = json.loads(changed)
    assert whole["hooks"]["sessionStart"] == [{"type": "command", "command": commands["sessionStart"]}]
    assert whole.get("version") == (None if text == "{}" else 1)
    assert our_commands(changed, CURSOR) == commands
    assert json.loads(without_hooks(changed, CURSOR)) == (json.loads(text) if text else {"version": 1})


WITH_EMPTY_LISTS = '{\n  "hooks": {"BeforeAgent": []},\n  "other": {"allowed": []}\n}\n'


@pytest.mark.parametrize("added", ["", '  "mcp": {"allowed": []},\n', "  // mine\n", '  "tools": {},\n'])
@pytest.mark.parametrize("before", [None, "{}", WITH_EMPTY_LISTS, COMMENTED])
def test_file_is_restored_unless_others_changed_it(tmp_path: Path, before: str | None, added: str) -> None:
    path = tmp_path / ".gemini/settings.json"
    path.parent.mkdir()
    if before is not None:
        path.write_text(before)
    for commands in (GEMINI_COMMANDS, {event: f"{one} --agent a" for event, one in GEMINI_COMMANDS.items()}):
        for change in hook_settings.installation(GEMINI, tmp_path, commands, {"hooks", "server"}):
            hook_settings.write(change)
    path.write_text(path.read_text().replace("{\n", f"{{\n{added}", 1))
    for change in hook_settings.removal(GEMINI, tmp_path):
        hook_settings.write(change, is_removal=True)
    if not added:
        assert (path.read_text() if path.exists() else None) == before
    else:
        assert added.rstrip(",\n") in path.read_text()
        assert not hook_settings.removal(GEMINI, tmp_path)
    assert [file.name for file in path.parent.iterdir()] in ([], [path.name])


WITH_SERVER = [host for host in HOSTS.values() if host.mcp]


def install_server(host: Host, project: Path | None) -> list[Path]:
    changes = hook_settings.installation(host, project, {}, {"server"})
    for change in changes:
        hook_settings.write(change)
    return [change.before.path for change in changes]


@pytest.mark.parametrize("host", WITH_SERVER, ids=lambda host: str(host.name))
def test_server_gets_a_new_interpreter_and_keeps_its_arguments(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("sys.executable", "/gone/bin/python3")
        (path,) = install_server(host, tmp_path)
    before, count = re.subn(r'"mcp"(\s*\])', r'"mcp", "--write"\1', path.read_text())
    assert count == 1
    path.write_text(before)
    assert install_server(host, tmp_path) == [path]
    # a list that is replaced stands on one line
    assert path.read_text().split() != before.split()
    assert "".join(path.read_text().split()) == "".join(before.replace("/gone/bin/python3", sys.executable).split())
    assert install_server(host, tmp_path) == []


@pytest.mark.parametrize(
    ("host", "text"),
    [
        (DEFAULT, '{"mcpServers": {"memoryd": {"command": "uv", "args": ["run", "python", "-m", "memoryd.cli"]}}}'),
        (DEFAULT, '{"mcpServers": {"memoryd": {"command": 1, "args": ["-P", "-m", "memoryd.cli", "mcp"]}}}'),
        (DEFAULT, '{"mcpServers": {"memoryd": "memoryd.cli"}}'),
        (CODEX, '[mcp_servers.memoryd]\ncommand = "python3"\nargs = ["-P", "-m", "memoryd.cli", "mcp"]\n'),
    ],
)
def test_server_entry_of_another_form_stays(host: Host, text: str, tmp_path: Path) -> None:
    path = hook_settings.places(host, tmp_path)["server"][0]
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    assert install_server(host, tmp_path) == []
    assert path.read_text() == text


def test_project_folder_with_our_name_stays(tmp_path: Path) -> None:
    project = tmp_path / "memoryd"
    project.mkdir()
    (path,) = install_server(DEFAULT, project)
    assert path.parent == project
    for change in hook_settings.removal(DEFAULT, project):
        hook_settings.write(change, is_removal=True)
    assert project.is_dir()
    assert not path.exists()


def test_skill_is_removed_with_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DEFAULT.folder_variable, str(tmp_path))
    for change in hook_settings.installation(DEFAULT, None, {}, {"skill"}):
        hook_settings.write(change)
    (path,) = hook_settings.places(DEFAULT, None)["skill"]
    assert path.parent == tmp_path / "skills/memoryd"
    for change in hook_settings.removal(DEFAULT, None, {"skill"}):
        hook_settings.write(change, is_removal=True)
    assert not path.parent.exists()
