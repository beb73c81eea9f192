"""Agent programs of ours that read their settings, run what stands there and take the answer, as the real ones do.

They know nothing of the rows in `memoryd.hooks.hosts`: where settings lie, how hooks stand in them, in which unit they
name a time, and what the program does with an answer is said here a second time, after its documentation.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).parent / "data" / "hosts"
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|,(?=\s*[}\]])')


class Told(NamedTuple):
    """What an agent got at an event; `is_late`: the hook gave up waiting."""

    event: str
    text: str
    is_late: bool


def _groups(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [handler for row in rows for handler in row["hooks"]]


def _flat(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return rows


def _nested_context(event: str, output: dict[str, Any]) -> str:
    inner = output.pop("hookSpecificOutput")
    # a program drops what is meant for another event
    assert (inner.pop("hookEventName"), output) == (event, {})
    text = inner.pop("additionalContext")
    assert not inner
    return str(text)


def _flat_context(event: str, output: dict[str, Any]) -> str:
    assert event in ("sessionStart", "beforeSubmitPrompt")
    assert output.pop("continue") is True
    text = output.pop("additional_context")
    assert not output
    return str(text)


class CommandHost(NamedTuple):
    """A program that runs a command of its settings with a shell."""

    settings: str
    handlers: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
    context: Callable[[str, dict[str, Any]], str]
    seconds: Callable[[dict[str, Any]], float]
    project: str
    is_strict: bool = True
    """It takes no comments in its settings."""


COMMAND_HOSTS: Mapping[str, CommandHost] = {
    "claude-code": CommandHost(
        ".claude/settings.json",
        _groups,
        _nested_context,
        lambda row: row.get("timeout", 60),
        ".claude/settings.local.json",
    ),
    "codex": CommandHost(
        ".codex/hooks.json", _groups, _nested_context, lambda row: row.get("timeout", 600), ".codex/hooks.json"
    ),
    "gemini": CommandHost(
        ".gemini/settings.json",
        _groups,
        _nested_context,
        lambda row: row.get("timeout", 60_000) / 1000,
        ".gemini/settings.json",
        is_strict=False,
    ),
    "cursor": CommandHost(
        ".cursor/hooks.json", _flat, _flat_context, lambda row: row.get("timeout", 60), ".cursor/hooks.json"
    ),
    "vscode": CommandHost(
        ".copilot/hooks/memoryd.json",
        _flat,
        _nested_context,
        lambda row: row.get("timeout", 30),
        ".github/hooks/memoryd.json",
    ),
}
PLUGIN_HOSTS = {
    "opencode": ".config/opencode/plugins/memoryd.js",
    "openclaw": ".openclaw/extensions/memoryd/index.js",
}


def exchange(host: str, session: str) -> list[dict[str, Any]]:
    """Return the recorded exchange of a host, for a session."""
    text = (DATA / f"{host}.jsonl").read_text(encoding="utf-8").replace("SESSION", session)
    return [json.loads(line) for line in text.splitlines()]


def play(host: str, home: Path, session: str, env: Mapping[str, str]) -> list[Told]:
    """Play the exchange of a host against what stands in its settings, and return what its agent was told."""
    rows = exchange(host, session)
    if host in COMMAND_HOSTS:
        return [told for row in rows for told in _run(COMMAND_HOSTS[host], home, row, env)]
    done = subprocess.run(
        plugin_program(host, home),
        input="".join(json.dumps(row) + "\n" for row in rows),
        env={**env, "PATH": os.environ["PATH"]}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    texts = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(texts) == len(rows)
    found = []
    for row, text in zip(rows, texts, strict=True):
        if isinstance(text, list):
            found += [Told("system", text[0], False), Told(row["event"], text[1], False)]
        elif text is not None:
            found.append(Told(row["event"], text, False))
    return found


def plugin_program(host: str, home: Path) -> list[str]:
    """Return the command that plays rows, a line each on standard input, against a plugin, and answers each."""
    node = shutil.which("node")
    assert node is not None
    return [node, str(Path(__file__).parent / "plugin_host.mjs"), host, str(home / PLUGIN_HOSTS[host])]


def _run(host: CommandHost, home: Path, row: dict[str, Any], env: Mapping[str, str]) -> list[Told]:
    text = (home / host.settings).read_text(encoding="utf-8")
    settings = json.loads(text if host.is_strict else _COMMENT.sub(lambda found: found[1] or "", text))
    told = []
    for handler in host.handlers(settings["hooks"].get(row["event"], [])):
        assert handler.get("type", "command") == "command"
        done = subprocess.run(
            ["sh", "-c", handler["command"]],
            input=json.dumps(row["input"]), env=dict(env), cwd="/", capture_output=True, text=True,
            timeout=host.seconds(handler), check=False,
        )  # fmt: skip
        # another exit code blocks what the person does in some of them
        assert done.returncode == 0
        context = host.context(row["event"], json.loads(done.stdout)) if done.stdout.strip() else ""
        told.append(Told(row["event"], context, "no answer in time" in done.stderr))
    return told
