"""Each agent program: installed, played by its recorded exchange against the real daemon, and all as before again."""

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
from tests.waiting import eventually
from tests.warm.programs import ran

PROMPT = "where is the sluice key?"
ANSWER = "The sluice key hangs behind the clock in the mill, on the hook beside the gauge."
STARTS = {"SessionStart", "sessionStart", "system", "chat.message"}
PROMPTS = {"UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt", "before_prompt_build", "chat.message"}
FAILURES = {"PostToolUseFailure", "AfterTool", "tool.execute.after"}
HAS_NODE = shutil.which("node") is not None
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
"""Files of others, before anything of ours."""
SESSIONS = count(1)


@pytest.fixture(scope="module")
def remembering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("hosts")
    workspace = write_workspace(home / "ws")
    with (workspace / "memory" / "2026-10-06.md").open("a") as log:
        log.write("\n## Retain\n\n- W @Weir: The sluice key hangs behind the clock.\n")
        log.write("- W @gateway: GW-4172 after `gateway acquire`: release the lease of the other process first.\n")
    with indexed_daemon(home, workspace) as running:
        yield running


@pytest.fixture
def home(remembering: RunningDaemon) -> Iterator[Path]:
    """Return the home folder, in which other things stand in every file that may be changed."""
    home = Path(remembering.env["HOME"])
    for name, text in OTHERS.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())
    yield home
    for name in {Path(name).parts[0] for name in [*OTHERS, ".agents/", ".copilot/", ".config/opencode/"]}:
        path = home / name
        shutil.rmtree(path) if path.is_dir() and name != ".config" else path.unlink() if path.is_file() else None
    shutil.rmtree(home / ".config" / "opencode")


def memoryctl(daemon: RunningDaemon, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from memoryd.cli.main import main; main()", "hooks", *arguments]
    return ran(command, env=environment(daemon), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def environment(daemon: RunningDaemon) -> Mapping[str, str]:
    return {**daemon.env, "PYTHONPATH": str(Path(__file__).parents[2])}


def tree(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def settled(home: Path) -> dict[str, bytes]:
    """Return all files of the home folder but those that the daemon writes while it runs."""
    names = ("ws/", ".cache", ".local", "state", "run", "memoryd")
    return {name: data for name, data in tree(home).items() if not name.startswith(names)}


def played(daemon: RunningDaemon, host: str, home: Path) -> tuple[str, list[Told]]:
    """Play the exchange, in a new session where a busy machine was too late for one; return the session, too."""
    for _ in range(5):
        session = f"played{next(SESSIONS)}"
        told = play(host, home, session, environment(daemon))
        if any(row.text for row in told if row.event in PROMPTS) and not any(row.is_late for row in told):
            break
    return session, told


def key(host: str, session: str) -> str:
    return f"telegram:direct:{session}" if host == "openclaw" else f"{host}:direct:{session}"


def turns(daemon: RunningDaemon, host: str, session: str) -> list[tuple[str, str | None]]:
    """Return question and answer of the turns of a session."""
    client = daemon.client()
    found = [row["session"] for row in client.qa_sessions()["sessions"] if str(row["key"]).endswith(key(host, session))]
    return [(turn["q"], turn["a"]) for name in found for turn in client.qa_session(name)["sequence"]]


def recalled(daemon: RunningDaemon, host: str) -> str:
    """Return what the API tells for the same prompt in another session of the same host."""
    session_key = f"agent:main:{key(host, f'asked{next(SESSIONS)}')}"
    bundle: Any = daemon.client().turn(PROMPT, session_key=session_key, encode="anthropic")["bundle"]
    return "".join(block["text"] for block in bundle["system"] if "cache_control" not in block)


@pytest.mark.parametrize("host", HOSTS)
def test_host_is_installed_played_and_left_as_it_was(remembering: RunningDaemon, home: Path, host: str) -> None:
    if host in PLUGIN_HOSTS and not HAS_NODE:
        pytest.skip("a plugin is played by node, which is not here")
    before = settled(home)
    done = memoryctl(remembering, "install", host, "--skill", "--mcp", "--json")
    assert done.returncode == Exit.DONE, done.stderr
    while_there = tree(home)
    assert json.loads(memoryctl(remembering, "install", host, "--skill", "--mcp", "--json").stdout)["changed"] is False
    assert tree(home).items() >= {name: while_there[name] for name in settled(home)}.items()

    session, told = played(remembering, host, home)
    by_event = {row.event: row.text for row in reversed(told)}
    start = next(text for event, text in by_event.items() if event in STARTS)
    prompt = next(text for event, text in by_event.items() if event in PROMPTS)
    assert "The gateway runs on the Mac Studio called alder." in start
    assert "recalled-memory" not in start or host == "opencode"
    expected = recalled(remembering, host)
    assert "The sluice key hangs behind the clock." in expected
    # behind the memories may stand what an earlier session said of the same
    told_before, _, rest = prompt.partition(expected)
    assert told_before == (start[: len(told_before)] if host == "opencode" else "")
    assert not rest or rest.startswith("<")
    assert not any(row.text for row in told if row.event not in STARTS | PROMPTS | FAILURES)
    failed = [row.text for row in told if row.event in FAILURES]
    assert bool(failed) is ("tool_failed" in HOSTS[host].events.values())
    assert not failed or ("release the lease" in failed[-1] and not any(failed[:-1])), "what helped before, once"
    eventually(lambda: turns(remembering, host, session) == [(PROMPT, None if host == "vscode" else ANSWER)])
    for other in HOSTS:
        assert other == host or turns(remembering, other, session) == []

    listed = json.loads(memoryctl(remembering, "list", "--json").stdout)["hosts"]
    assert {row["name"]: row["hooks"] for row in listed}[host] == "installed"
    assert memoryctl(remembering, "uninstall", host).returncode == Exit.DONE
    assert settled(home) == before
    assert not [path for path in home.rglob("memoryd") if path.is_dir() and "skills" in path.parts]


def test_group_and_sub_agent_are_told_nothing(remembering: RunningDaemon, home: Path) -> None:
    if not HAS_NODE:
        pytest.skip("a plugin is played by node, which is not here")
    for host in PLUGIN_HOSTS:
        assert memoryctl(remembering, "install", host).returncode == Exit.DONE
    session, told = played(remembering, "openclaw", home)
    prompts = [row.text for row in told if row.event == "before_prompt_build"]
    assert [bool(text) for text in prompts] == [True, False], "a group reads no memory; a heartbeat asks nothing"
    session, told = played(remembering, "opencode", home)
    assert [bool(row.text) for row in told if row.event == "chat.message"] == [True, False]
    assert turns(remembering, "opencode", f"{session}-child") == []


@pytest.mark.skipif(not HAS_NODE, reason="a plugin is played by node, which is not here")
def test_plugin_tells_no_more_what_is_gone(remembering: RunningDaemon, home: Path) -> None:
    core = remembering.workspace / "MEMORY.md"
    text, line = core.read_text(), "The gateway runs on the Mac Studio called alder."
    assert memoryctl(remembering, "install", "openclaw").returncode == Exit.DONE
    row = json.dumps(exchange("openclaw", f"gone{next(SESSIONS)}")[0])
    env = {**environment(remembering), "PATH": os.environ["PATH"]}
    program, pipe = plugin_program("openclaw", home), subprocess.PIPE
    with subprocess.Popen(program, env=env, stdin=pipe, stdout=pipe, text=True) as playing:
        written, read = playing.stdin, playing.stdout
        assert written is not None
        assert read is not None

        def is_told() -> bool:
            print(row, file=written, flush=True)
            return line in json.loads(read.readline())[0]

        try:
            eventually(is_told)
            core.write_text(text.replace(line, ""))
            remembering.client().sync()
            assert not is_told()
        finally:
            core.write_text(text)
            written.close()


def test_start_tells_what_was_said_in_its_own_session_alone(remembering: RunningDaemon, home: Path) -> None:
    for host in ("claude-code", "codex"):
        memoryctl(remembering, "install", host)
    session, told = played(remembering, "claude-code", home)
    starts = [row.text for row in told if row.event == "SessionStart"]
    assert [PROMPT in text for text in starts] == [False, True], "after it was shortened, it knows its last question"
    other = play("codex", home, session, environment(remembering))[0]
    assert PROMPT not in other.text, "the same id in another program is another session"


@pytest.mark.parametrize("host", sorted(COMMAND_HOSTS))
def test_project_has_settings_of_its_own(remembering: RunningDaemon, home: Path, tmp_path: Path, host: str) -> None:
    (tmp_path / "AGENTS.md").write_text("# Rules\n\nBe kind.")
    before = tree(tmp_path)
    done = memoryctl(remembering, "install", host, "--project", str(tmp_path), "--skill", "--mcp")
    assert done.returncode == Exit.DONE, done.stderr
    hooks = json.loads((tmp_path / COMMAND_HOSTS[host].project).read_text())["hooks"]
    rows = [row for event in hooks for row in COMMAND_HOSTS[host].handlers(hooks[event])]
    assert {row["event"] for row in exchange(host, "x")} == set(hooks), "each event is played above"
    assert all("memoryd.hooks" in row["command"] for row in rows)
    instructions = (tmp_path / HOSTS[host].instructions).read_text()
    assert "memoryctl recall" in instructions
    assert memoryctl(remembering, "uninstall", host, "--project", str(tmp_path)).returncode == Exit.DONE
    assert tree(tmp_path) == before


def test_instructions_stay_while_another_program_reads_them(
    remembering: RunningDaemon, home: Path, tmp_path: Path
) -> None:
    for host in ("cursor", "codex"):
        done = memoryctl(remembering, "install", host, "--project", str(tmp_path), "--skill", "--mcp")
        assert done.returncode == Exit.DONE, done.stderr
        named = next(line for line in done.stderr.splitlines() if "out of what you commit" in line)
        assert all(name in named for name in (HOSTS[host].project, *(HOSTS[host].mcp or ())[1:2]))
        assert "AGENTS.md" not in named
    for host, is_left in (("cursor", True), ("codex", False)):
        memoryctl(remembering, "uninstall", host, "--project", str(tmp_path))
        assert (tmp_path / "AGENTS.md").exists() == is_left


def test_host_without_settings_of_a_project_says_so(remembering: RunningDaemon, tmp_path: Path) -> None:
    done = memoryctl(remembering, "install", "openclaw", "--project", str(tmp_path))
    assert (done.returncode, list(tmp_path.iterdir())) == (Exit.ERROR, [])
    assert "no settings of a project" in done.stderr


def test_file_of_somebody_else_at_the_place_of_ours_is_left_alone(remembering: RunningDaemon, home: Path) -> None:
    for name in (".config/opencode/plugins/memoryd.js", ".claude/skills/memoryd/SKILL.md"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("mine\n")
    before = settled(home)
    for arguments in (("opencode",), ("claude-code", "--skill")):
        done = memoryctl(remembering, "install", *arguments)
        assert done.returncode == Exit.ERROR
        assert "stays unchanged" in done.stderr
        assert memoryctl(remembering, "uninstall", arguments[0]).returncode == Exit.DONE
    assert settled(home) == before


def test_server_that_is_there_stays(remembering: RunningDaemon, home: Path) -> None:
    mine = '{"mcpServers": {"memoryd": {"command": "memoryctl", "args": ["mcp", "--write"]}}}'
    (home / ".claude.json").write_text(mine)
    assert "not ours stays unchanged" in memoryctl(remembering, "install", "claude-code", "--mcp").stderr
    memoryctl(remembering, "uninstall", "claude-code")
    assert (home / ".claude.json").read_text() == mine


@pytest.mark.parametrize("host", PLUGIN_HOSTS)
@pytest.mark.parametrize("program", ["/gone/python", "/bin/echo", "/bin/false"])
def test_plugin_whose_command_fails_gets_in_nobodys_way(
    remembering: RunningDaemon, home: Path, host: str, program: str
) -> None:
    if not HAS_NODE:
        pytest.skip("a plugin is played by node, which is not here")
    memoryctl(remembering, "install", host)
    plugin = home / PLUGIN_HOSTS[host]
    plugin.write_text(plugin.read_text().replace(sys.executable, program))
    assert not any(row.text for row in play(host, home, "failing", environment(remembering)))
    assert memoryctl(remembering, "uninstall", host).returncode == Exit.DONE
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
def test_file_of_another_form_is_left_alone_and_said(
    remembering: RunningDaemon, home: Path, name: str, text: str
) -> None:
    (home / name).write_text(text)
    before = settled(home)
    host = "codex" if "codex" in name else "claude-code"
    done = memoryctl(remembering, "install", host, "--mcp", "--skill")
    assert done.returncode == Exit.ERROR
    assert f"{name} stays unchanged" in done.stderr
    assert "mend it by hand" in done.stderr
    assert settled(home) == before, "nothing is written where one file is refused"


def test_file_that_is_not_asked_for_hinders_nothing(remembering: RunningDaemon, home: Path) -> None:
    (home / ".claude.json").write_text("{ broken")
    before = settled(home)
    for action in ("install", "uninstall"):
        assert memoryctl(remembering, action, "claude-code").returncode == Exit.DONE
    assert settled(home) == before
