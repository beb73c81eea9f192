"""Rows 152, 153, 156 and 157 of the fault catalogue, against the real daemon.

Files of a workspace configure nothing, run nothing and block nothing.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from memoryd.config.loading.load import load
from memoryd.errors import ConfigError, MemorydError
from tests.daemon import RunningDaemon, write_config
from tests.fault.test_security import start
from tests.sweeps import whole_or

PLANTED = [
    ".memoryd.toml", ".memoryd.json5", "memoryd.json5", "config.json5", ".memoryd/config.json5", ".memory/config.json5",
    ".config/memoryd/config.json5", "memory/config.json5", "openclaw.json", ".openclaw/openclaw.json", "pyproject.toml",
    "sitecustomize.py", "usercustomize.py", "memory/conftest.py", ".env",
]  # fmt: skip


def test_f152_files_in_the_workspace_configure_and_run_nothing(tmp_path: Path) -> None:
    """No file planted in the workspace is read as configuration, opened or run."""
    running, proof = start(tmp_path), tmp_path / "proof"
    command = running.workspace / "qmd"
    search = {
        "provider": "local",
        "local": {"modelPath": str(running.workspace / "model.gguf")},
        "store": {"vector": {"extensionPath": str(running.workspace / "vec0.so")}},
    }
    memory = {"backend": "qmd", "qmd": {"command": str(command)}}
    planted = json.dumps({"memory": memory, "agents": {"defaults": {"memorySearch": search}}})
    for name in PLANTED:
        path = running.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"open({str(proof)!r}, 'w')" if name.endswith(".py") else planted)
    for name in ("qmd", "git", "llama-server", "vec0.so"):
        (running.workspace / name).write_text(f"#!/bin/sh\ntouch {proof}\n")
        (running.workspace / name).chmod(0o700)
    with contextlib.chdir(running.workspace), running:
        running.client().sync()
        status = running.client().status()
        assert status["config"]["source"] == str(running.config)
        assert (status["agents"][0]["backend"], status["agents"][0]["provider"]) == ("builtin", "none")
        assert not {planted.path for planted in psutil.Process(running.pid).open_files()} & _files_in(running.workspace)
        assert psutil.Process(running.pid).children() == []
    assert not proof.exists()


def _files_in(folder: Path) -> set[str]:
    return {str(path) for path in folder.rglob("*")}


@pytest.mark.parametrize("command", ["./qmd", "bin/qmd", "../qmd"])
def test_f152_command_may_not_be_relative(tmp_path: Path, command: str) -> None:
    """A relative command is refused with the reason."""
    path = tmp_path / "config.json5"
    path.write_text(f'{{ memory: {{ qmd: {{ command: "{command}" }} }} }}')
    with pytest.raises(ConfigError, match="absolute path"):
        load(path)


def test_f157_qmd_of_the_working_directory_is_never_run(tmp_path: Path) -> None:
    """No qmd of the working directory runs, though PATH has relative entries; the builtin index answers.

    The daemon is started by hand in a workspace.
    """
    workspace, proof = tmp_path / "workspace", tmp_path / "proof"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("The gateway runs on alder.\n")
    for folder in ("", "bin", "node_modules/.bin"):
        program = workspace / folder / "qmd"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\ntouch {proof}\necho qmd 2.8.3\n")
        program.chmod(0o700)
    config = write_config(tmp_path, workspace, None, memory={"backend": "qmd"})
    path = os.pathsep.join([".", "", "bin", "node_modules/.bin", "/usr/bin", "/bin"])
    with contextlib.chdir(workspace), RunningDaemon(tmp_path, config, workspace, environment={"PATH": path}) as running:
        running.client().sync()
        reply = running.client().search("gateway")
        assert reply["results"][0]["path"] == "MEMORY.md"
        assert "not installed" in str(reply["fallback"])
    assert not proof.exists()


class Installed(RunningDaemon):
    """The daemon started like by its installed script: the folder of the script is first in sys.path."""

    def spawn(self, *arguments: str) -> subprocess.Popen[bytes]:
        (self.home / "home").mkdir(exist_ok=True)
        script = self.home / "bin" / "memoryd"
        script.parent.mkdir(exist_ok=True)
        script.write_text("from memoryd.daemon.main import main\n\nmain()\n")
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, script, *arguments],
                env=self.env,
                cwd=self.workspace,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def test_f156_modules_in_the_workspace_are_never_imported(tmp_path: Path, starter_model: Path) -> None:
    """No module planted in the working directory is imported by daemon or worker."""
    workspace, proof = tmp_path / "workspace", tmp_path / "proof"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("The gateway runs on alder.\n")
    for name in ("json", "numpy", "llama_cpp", "struct", "sitecustomize", "usercustomize", "memoryd"):
        (workspace / f"{name}.py").write_text(f"open({str(proof)!r}, 'w')\n")
    with Installed(tmp_path, write_config(tmp_path, workspace, starter_model), workspace) as running:
        assert running.client().sync(wait="embedded", timeout_ms=60_000)["complete"]
        assert running.client().search("gateway")["mode"] == "hybrid"
    assert not proof.exists()


SIZE = whole_or(6_000, 100_000)
HOSTILE = {
    "brackets": "[" * SIZE,
    "images": "![](" * SIZE,
    "links": "[a](" * SIZE,
    "closing": "](" * SIZE,
    "quotes": ">" * SIZE,
    "nested lists": "".join(f"{' ' * depth}- x\n" for depth in range(400)),
    "stars": "*" * SIZE + "a" + "_" * SIZE,
    "backticks": "`" * SIZE + "a",
    "ticks and words": "`a" * SIZE,
    "fences": "```\n" * (SIZE // 2),
    "tildes": "~~~" * SIZE,
    "headings": "# a\n" * (SIZE // 3),
    "deep heading": "#" * SIZE + " a",
    "pipes": "|" * SIZE + "\n" + "-|" * SIZE,
    "comment": "<!--" * SIZE,
    "tags": "<a " * SIZE,
    "entities": "&amp" * SIZE,
    "regular": "a" * SIZE + "!",
    "pairs": "(a+)+" * (SIZE // 5),
    "spaces": " " * SIZE + "x",
    "tabs": "\t" * SIZE + "x",
    "blank lines": "\n" * SIZE,
    "carriage returns": "a\r" * SIZE,
    "setext": "a\n" + "=" * SIZE + "\n",
    "ideographs": "漢" * SIZE,
    "combining": "a" + "\u0301" * SIZE,
    "zero width": "\u200b" * SIZE,
    "path": "a/" * SIZE,
    "camel": "aB" * SIZE,
    "digits": "1" * SIZE,
    "hyphens": "a-" * SIZE,
    "dots": "a." * SIZE,
    "at signs": "W @a: " * (SIZE // 5),
    "yaml aliases": "---\na: &a [x,x]\n" + "".join(f"b{n}: &b{n} [*a,*a]\n" for n in range(300)) + "---\n",
    "yaml laughs": "---\na: &a [x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]\n---\n",
    "yaml object": "---\na: !!python/object/apply:os.system ['touch PROOF']\n---\n",
    "yaml brackets": "---\na: " + "[" * 15_000 + "\n---\n",
    "yaml braces": "---\n" + "{a: " * 4000 + "\n---\n",
    "yaml quotes": "---\na: " + "'" * 15_000 + "\n---\n",
    "yaml number": "---\na: " + "9" * 15_000 + "\n---\n",
    "yaml date": "---\na: 9999-99-99\nb: 1:1:1:1:1:1\n---\n",
    "yaml never closed": "---\n" + "a: b\n" * 20_000,
    "yaml tabs": "---\n\ta:\tb\n---\n",
    "yaml merge": "---\na: &a {b: c}\nd: {<<: *a, <<: *a}\n---\n",
    "yaml keys": "---\n? [a, b]\n: c\n? {d: e}\n: f\n---\n",
}


@pytest.mark.sweep
def test_f153_hostile_markdown_is_indexed_quickly_and_runs_nothing(tmp_path: Path) -> None:
    """Every hostile note is found, meanwhile answers take less than 2 s, and nothing is run."""
    running, proof = start(tmp_path), tmp_path / "proof"
    for number, text in enumerate(HOSTILE.values()):
        words = text.replace("PROOF", str(proof))
        (running.workspace / "memory" / f"{number}.md").write_text(f"{words}\n\nharmless{number}\n", encoding="utf-8")
    with running:
        slowest = _slowest_answer(running, lambda: bool(running.client().sync(timeout_ms=120_000).get("complete")))
        client = running.client()
        missing = [name for number, name in enumerate(HOSTILE) if not client.search(f"harmless{number}")["results"]]
        assert not missing
        assert slowest < 2.0
        assert running.agent()["skippedCount"] == 0
        for number, text in enumerate(HOSTILE.values()):
            client.get(f"memory/{number}.md")
            with contextlib.suppress(MemorydError):
                client.search(text[:1300])
    assert not proof.exists()
    assert "Traceback" not in running.log.read_text()


def _slowest_answer(running: RunningDaemon, work: Callable[[], bool]) -> float:
    """Return the longest time of an answer while `work` runs, which must succeed in a minute."""
    slowest, began, client = 0.0, time.monotonic(), running.client()
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        while not working.done():
            asked = time.monotonic()
            client.health()
            slowest = max(slowest, time.monotonic() - asked)
            time.sleep(0.01)
        assert working.result()
    assert time.monotonic() - began < len(HOSTILE)
    return slowest
