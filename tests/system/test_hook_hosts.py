"""Each agent program: hooks are installed, recorded events played to the real daemon, and everything is undone."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from memoryd.hooks.hosts import HOSTS
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, indexed_daemon, write_workspace
from tests.fake_hosts import COMMAND_HOSTS, PLUGIN_HOSTS, Told, exchange, play, plugin_program
from tests.system.files import contents
from tests.waiting import eventually

PROMPT = "where is the sluice key?"
ANSWER = "The sluice key hangs behind the clock in the mill, on the hook beside the gauge."
STARTS = {"SessionStart", "sessionStart", "system", "chat.message"}
PROMPTS = {"UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt", "before_prompt_build", "chat.message"}
FAILURES = {"PostToolUseFailure", "AfterTool", "tool.execute.after"}
HAS_NODE = shutil.which("node") is not None
needs_node = pytest.mark.skipif(not HAS_NODE, reason="a plugin is played by node, which is not here")
OTHERS = {
    ".claude/settings.json": '{\n\t"model": "opus",\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": '
    '"true"}]}]}\n}',
    ".claude.json": '{"mcpServers": {"other": {"command": "other"}}, "numStartups": 7}',
    ".codex/hooks.json": '{ "hooks": {} }\n',
    ".codex/config.toml": '# mine\nmodel = "gpt-5.4"  # and a comment\n\n[mcp_servers.other]\ncommand = "other"',
    ".gemini/settings.json": '{\r\n  // mine\r\n  "mcpServers": {"other": {"command": "other"},},\r\n'
    '  "theme": "x" // here\r\n}\r\n',
    ".config/opencode/opencode.json": '{\n  "$schema": "https://opencode.ai/config.json", // mine\n  "mcp": {}\n}\n',
    ".cursor/hooks.json": '{"version":1,"hooks":{"stop":[{"command":"true"}]}}',
    ".openclaw/openclaw.json": "{ plugins: {} }\n",
}
"""Files of the programs before the installation."""
SESSIONS = count(1)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("hosts")
    workspace = write_workspace(home / "ws")
    with (workspace / "memory" / "2026-10-06.md").open("a") as log:
        log.write("\n## Retain\n\n- W @Weir: The sluice key hangs behind the clock.\n")
        log.write("- W @gateway: GW-4172 after `gateway acquire`: release the lease of the other process first.\n")
    with indexed_daemon(home, workspace) as running:
        yield running


@pytest.fixture
def home(daemon: RunningDaemon) -> Iterator[Path]:
    """Return the home folder, with other content in every file that may be changed."""
    home = Path(daemon.env["HOME"])
    for name, text in OTHERS.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())
    yield home
    for name in {Path(name).parts[0] for name in [*OTHERS, ".agents/", ".copilot/", ".config/opencode/"]}:
        path = home / name
        shutil.rmtree(path) if path.is_dir() and name != ".config" else path.unlink() if path.is_file() else None
    shutil.rmtree(home / ".config" / "opencode")


def memoryctl(daemon: RunningDaemon, *arguments: str) -> subprocess.CompletedProcess[str]:
    return daemon.memoryctl("hooks", *arguments)


def environment(daemon: RunningDaemon) -> Mapping[str, str]:
    return {**daemon.env, "PYTHONPATH": str(Path(__file__).parents[2])}


def files_of_programs(home: Path) -> dict[str, bytes]:
    """Return all files of the home folder except those that the daemon writes."""
    names = ("ws/", ".cache", ".local", "state", "run", "memoryd")
    return {name: data for name, data in contents(home).items() if not name.startswith(names)}


def played(daemon: RunningDaemon, host: str, home: Path) -> tuple[str, list[Told]]:
    """Play the events of a host; retry in a new session if the machine was too slow. Return the session, too."""
    for _ in range(5):
        session = f"played{next(SESSIONS)}"
        rows = play(host, home, session, environment(daemon))
        if any(row.text for row in rows if row.event in PROMPTS) and not any(row.is_late for row in rows):
            break
    return session, rows


def session_key(host: str, session: str) -> str:
    return f"telegram:direct:{session}" if host == "openclaw" else f"{host}:direct:{session}"


def turns(daemon: RunningDaemon, host: str, session: str) -> list[tuple[str, str | None]]:
    """Return question and answer of the turns of a session."""
    client = daemon.client()
    suffix = session_key(host, session)
    found = [row["session"] for row in client.qa_sessions()["sessions"] if str(row["key"]).endswith(suffix)]
    return [(turn["q"], turn["a"]) for name in found for turn in client.qa_session(name)["sequence"]]


def recalled(daemon: RunningDaemon, host: str) -> str:
    """Return what the API recalls for the same prompt in another session of the same host."""
    key = f"agent:main:{session_key(host, f'asked{next(SESSIONS)}')}"
    bundle: Any = daemon.client().turn(PROMPT, session_key=key, encode="anthropic")["bundle"]
    return "".join(block["text"] for block in bundle["system"] if "cache_control" not in block)


@pytest.mark.parametrize("host", HOSTS)
def test_host_is_installed_played_and_restored(daemon: RunningDaemon, home: Path, host: str) -> None:
    if host in PLUGIN_HOSTS and not HAS_NODE:
        pytest.skip("a plugin is played by node, which is not here")
    before = files_of_programs(home)
    result = memoryctl(daemon, "install", host, "--skill", "--mcp", "--json")
    assert result.returncode == Exit.DONE, result.stderr
    installed = contents(home)
    assert json.loads(memoryctl(daemon, "install", host, "--skill", "--mcp", "--json").stdout)["changed"] is False
    assert contents(home).items() >= {name: installed[name] for name in files_of_programs(home)}.items()

    session, rows = played(daemon, host, home)
    by_event = {row.event: row.text for row in reversed(rows)}
    start = next(text for event, text in by_event.items() if event in STARTS)
    prompt = next(text for event, text in by_event.items() if event in PROMPTS)
    assert "The gateway runs on the Mac Studio called alder." in start
    assert "recalled-memory" not in start or host == "opencode"
    expected = recalled(daemon, host)
    assert "The sluice key hangs behind the clock." in expected
    # after the memories may follow what an earlier session said
    before_expected, _, rest = prompt.partition(expected)
    assert before_expected == (start[: len(before_expected)] if host == "opencode" else "")
    assert not rest or rest.startswith("<")
    assert not any(row.text for row in rows if row.event not in STARTS | PROMPTS | FAILURES)
    failed = [row.text for row in rows if row.event in FAILURES]
    assert bool(failed) is ("tool_failed" in HOSTS[host].events.values())
    assert not failed or ("release the lease" in failed[-1] and not any(failed[:-1])), "the earlier fix, once"
    eventually(lambda: turns(daemon, host, session) == [(PROMPT, None if host == "vscode" else ANSWER)])
    for other in HOSTS:
        assert other == host or turns(daemon, other, session) == []

    listed = json.loads(memoryctl(daemon, "list", "--json").stdout)["hosts"]
    assert {row["name"]: row["hooks"] for row in listed}[host] == "installed"
    assert memoryctl(daemon, "uninstall", host).returncode == Exit.DONE
    assert files_of_programs(home) == before
    assert not [path for path in home.rglob("memoryd") if path.is_dir() and "skills" in path.parts]


@needs_node
def test_group_and_sub_agent_get_nothing(daemon: RunningDaemon, home: Path) -> None:
    for host in PLUGIN_HOSTS:
        assert memoryctl(daemon, "install", host).returncode == Exit.DONE
    session, rows = played(daemon, "openclaw", home)
    prompts = [row.text for row in rows if row.event == "before_prompt_build"]
    assert [bool(text) for text in prompts] == [True, False], "a group gets no memory, and a heartbeat has no question"
    session, rows = played(daemon, "opencode", home)
    assert [bool(row.text) for row in rows if row.event == "chat.message"] == [True, False]
    assert turns(daemon, "opencode", f"{session}-child") == []


@needs_node
def test_plugin_does_not_repeat_deleted_core(daemon: RunningDaemon, home: Path) -> None:
    core = daemon.workspace / "MEMORY.md"
    text, line = core.read_text(), "The gateway runs on the Mac Studio called alder."
    assert memoryctl(daemon, "install", "openclaw").returncode == Exit.DONE
    row = json.dumps(exchange("openclaw", f"gone{next(SESSIONS)}")[0])
    env = {**environment(daemon), "PATH": os.environ["PATH"]}
    program, pipe = plugin_program("openclaw", home), subprocess.PIPE
    with subprocess.Popen(program, env=env, stdin=pipe, stdout=pipe, text=True) as playing:
        written, read = playing.stdin, playing.stdout
        assert written is not None
        assert read is not None

        def is_sent() -> bool:
            print(row, file=written, flush=True)
            return line in json.loads(read.readline())[0]

        try:
            eventually(is_sent)
            core.write_text(text.replace(line, ""))
            daemon.client().sync()
            assert not is_sent()
        finally:
            core.write_text(text)
            written.close()


def test_start_has_only_the_turns_of_its_own_session(daemon: RunningDaemon, home: Path) -> None:
    for host in ("claude-code", "codex"):
        memoryctl(daemon, "install", host)
    session, rows = played(daemon, "claude-code", home)
    starts = [row.text for row in rows if row.event == "SessionStart"]
    assert [PROMPT in text for text in starts] == [False, True], "after compaction, the last question is sent"
    other = play("codex", home, session, environment(daemon))[0]
    assert PROMPT not in other.text, "the same id in another program is another session"


@pytest.mark.parametrize("host", sorted(COMMAND_HOSTS))
def test_project_has_its_own_settings(daemon: RunningDaemon, home: Path, tmp_path: Path, host: str) -> None:
    (tmp_path / "AGENTS.md").write_text("# Rules\n\nBe kind.")
    before = contents(tmp_path)
    result = memoryctl(daemon, "install", host, "--project", str(tmp_path), "--skill", "--mcp")
    assert result.returncode == Exit.DONE, result.stderr
    hooks = json.loads((tmp_path / COMMAND_HOSTS[host].project).read_text())["hooks"]
    rows = [row for event in hooks for row in COMMAND_HOSTS[host].handlers(hooks[event])]
    assert {row["event"] for row in exchange(host, "x")} == set(hooks), "every event has a recorded row"
    assert all("memoryd.hooks" in row["command"] for row in rows)
    instructions = (tmp_path / HOSTS[host].instructions).read_text()
    assert "memoryctl recall" in instructions
    assert memoryctl(daemon, "uninstall", host, "--project", str(tmp_path)).returncode == Exit.DONE
    assert contents(tmp_path) == before


def test_instructions_stay_while_another_program_needs_them(daemon: RunningDaemon, home: Path, tmp_path: Path) -> None:
    for host in ("cursor", "codex"):
        result = memoryctl(daemon, "install", host, "--project", str(tmp_path), "--skill", "--mcp")
        assert result.returncode == Exit.DONE, result.stderr
        named = next(line for line in result.stderr.splitlines() if "out of what you commit" in line)
        assert all(name in named for name in (HOSTS[host].project, *(HOSTS[host].mcp or ())[1:2]))
        assert "AGENTS.md" not in named
    for host, is_left in (("cursor", True), ("codex", False)):
        memoryctl(daemon, "uninstall", host, "--project", str(tmp_path))
        assert (tmp_path / "AGENTS.md").exists() == is_left


def test_host_without_project_settings_is_refused(daemon: RunningDaemon, tmp_path: Path) -> None:
    result = memoryctl(daemon, "install", "openclaw", "--project", str(tmp_path))
    assert (result.returncode, list(tmp_path.iterdir())) == (Exit.ERROR, [])
    assert "no settings of a project" in result.stderr


def test_foreign_file_at_our_path_is_unchanged(daemon: RunningDaemon, home: Path) -> None:
    for name in (".config/opencode/plugins/memoryd.js", ".claude/skills/memoryd/SKILL.md"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("mine\n")
    before = files_of_programs(home)
    for arguments in (("opencode",), ("claude-code", "--skill")):
        result = memoryctl(daemon, "install", *arguments)
        assert result.returncode == Exit.ERROR
        assert "stays unchanged" in result.stderr
        assert memoryctl(daemon, "uninstall", arguments[0]).returncode == Exit.DONE
    assert files_of_programs(home) == before


def test_existing_mcp_server_is_unchanged(daemon: RunningDaemon, home: Path) -> None:
    mine = '{"mcpServers": {"memoryd": {"command": "memoryctl", "args": ["mcp", "--write"]}}}'
    (home / ".claude.json").write_text(mine)
    assert "not ours stays unchanged" in memoryctl(daemon, "install", "claude-code", "--mcp").stderr
    memoryctl(daemon, "uninstall", "claude-code")
    assert (home / ".claude.json").read_text() == mine


@needs_node
@pytest.mark.parametrize("host", PLUGIN_HOSTS)
@pytest.mark.parametrize("program", ["/gone/python", "/bin/echo", "/bin/false"])
def test_plugin_with_failing_command_does_no_harm(daemon: RunningDaemon, home: Path, host: str, program: str) -> None:
    memoryctl(daemon, "install", host)
    plugin = home / PLUGIN_HOSTS[host]
    plugin.write_text(plugin.read_text().replace(sys.executable, program))
    assert not any(row.text for row in play(host, home, "failing", environment(daemon)))
    assert memoryctl(daemon, "uninstall", host).returncode == Exit.DONE
    assert not plugin.exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".claude.json", '{"mcpServers": []}'),
        (".claude.json", '{"mcpServers": null}'),
        (".claude.json", "{} {"),
        (".codex/config.toml", 'mcp_servers = { other = { command = "other" } }'),
        (".codex/config.toml", "model ="),
        (".codex/hooks.json", '{"hooks": {"Stop": 7}}'),
    ],
)
def test_unsupported_settings_file_is_unchanged_and_reported(
    daemon: RunningDaemon, home: Path, name: str, text: str
) -> None:
    (home / name).write_text(text)
    before = files_of_programs(home)
    host = "codex" if "codex" in name else "claude-code"
    result = memoryctl(daemon, "install", host, "--mcp", "--skill")
    assert result.returncode == Exit.ERROR
    assert f"{name} stays unchanged" in result.stderr
    assert "mend it by hand" in result.stderr
    assert files_of_programs(home) == before, "if one file is refused, none is written"


def test_broken_file_that_is_not_needed_is_ignored(daemon: RunningDaemon, home: Path) -> None:
    (home / ".claude.json").write_text("{ broken")
    before = files_of_programs(home)
    for action in ("install", "uninstall"):
        assert memoryctl(daemon, action, "claude-code").returncode == Exit.DONE
    assert files_of_programs(home) == before
