"""What programs import at start: every start pays for it."""

import subprocess
import sys
from pathlib import Path

import pytest

APPLICATION = "import memoryd.daemon.main, memoryd.daemon.app, memoryd.api.application as it; it.Application()"
SEARCH = "import memoryd.cli.__main__, memoryd.cli.main, memoryd.cli.memory.search"
KNOWLEDGE = "import memoryd.cli.__main__, memoryd.cli.main, memoryd.cli.memory.knowledge"
HOOK = "import memoryd.hooks.hook_run"
HOOKS = "import memoryd.cli.__main__, memoryd.cli.main, memoryd.cli.local.hooks"
HELP = "from memoryd.cli.main import run; run(['search', '--help'])"
INIT = "import memoryd.cli.__main__, memoryd.cli.main, memoryd.cli.local.init, memoryd.cli.local.survey"
CONFIG = "import memoryd.config.loading.load"
AT_ONCE = "import sys; sys.argv[1:] = ['{}']; import memoryd.cli.__main__ as it; it.main()"

HEAVY = {"anthropic", "httpx", "llama_cpp", "mcp", "openai", "prometheus_client", "psutil", "rich"}
HEAVY |= {"jinja2", "markdown_it", "nh3", "yaml", "json5", "html", "watchfiles", "multiprocessing"}
"""Loaded where they are first used."""
SLOW = {"click", "msgspec", "json", "re", "enum", "typing", "collections", "functools", "socket", "signal", "pathlib"}
"""Modules that take longer to load than a hook takes to start."""
SERVERS = {"apsw", "numpy", "pydantic", "starlette", "uvicorn"}


def loaded(program: str) -> set[str]:
    """Return the names of all modules that a new Python process has loaded after some lines."""
    result = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(result.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("program", "without", "ours"),
    [
        (APPLICATION, HEAVY, 380),
        (SEARCH, HEAVY | SERVERS, 23),
        (KNOWLEDGE, HEAVY | SERVERS | {"msgspec", "hashlib"}, 24),
        (HELP, HEAVY | SERVERS, 23),
        (HOOK, HEAVY | SERVERS | SLOW, 4),
        (HOOKS, HEAVY | SERVERS, 17),
        (CONFIG, HEAVY | (SERVERS - {"pydantic"}), 50),
        (INIT, (HEAVY - {"html", "rich"}) | (SERVERS - {"numpy", "pydantic"}), 100),
    ],
    ids=["daemon", "search", "knowledge", "help", "hook", "hooks", "config", "init"],
)
def test_program_loads_no_module_it_may_not_need(program: str, without: set[str], ours: int) -> None:
    modules = loaded(program)
    assert modules & without == set()
    assert len({name for name in modules if name.split(".")[0] == "memoryd"}) <= ours


def test_pydantic_plugin_of_another_package_is_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "intruder.py").write_text("raise SystemExit('loaded')\n")
    installed = tmp_path / "intruder-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: intruder\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[pydantic]\nintruder = intruder:plugin\n")
    assert "memoryd.config.root" in loaded(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {CONFIG}")


def test_daemon_without_team_loads_no_team_modules() -> None:
    of_team = {"memoryd.team", "memoryd.agents.team", "memoryd.domain.memories.sharing"}
    assert loaded(APPLICATION) & of_team == set()


def test_empty_text_loads_no_masked_arrays() -> None:
    analysed = (
        "from memoryd.domain.text import lines, structure; structure.analyse(lines.tabulate(lines.encode_padded('')))"
    )
    assert "numpy.ma" not in loaded(analysed)


@pytest.mark.parametrize(("option", "needs"), [("--version", set()), ("--help", {"overview"}), ("-h", {"overview"})])
def test_version_and_help_import_nothing_else(option: str, needs: set[str]) -> None:
    modules = {name for name in loaded(AT_ONCE.format(option)) if name.split(".")[0] in ("memoryd", "click", "msgspec")}
    assert modules == {"memoryd", "memoryd.cli", "memoryd.cli.__main__", *(f"memoryd.cli.{need}" for need in needs)}
