"""What programs import before they do anything: each start pays for it."""

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
"""Loaded where they are used first."""
SLOW = {"click", "msgspec", "json", "re", "enum", "typing", "collections", "functools", "socket", "signal", "pathlib"}
"""What would take a hook longer to load than it takes to start."""
SERVERS = {"apsw", "numpy", "pydantic", "starlette", "uvicorn"}


def loaded(program: str) -> set[str]:
    """Return the names of all modules that a Python of its own has loaded behind some lines."""
    told = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(told.stdout.splitlines()[-1].split())


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
def test_program_loads_nothing_that_it_may_never_use(program: str, without: set[str], ours: int) -> None:
    modules = loaded(program)
    assert modules & without == set()
    assert len({name for name in modules if name.split(".")[0] == "memoryd"}) <= ours


def test_package_that_lies_beside_us_extends_no_model(tmp_path: Path) -> None:
    (tmp_path / "intruder.py").write_text("raise SystemExit('loaded')\n")
    installed = tmp_path / "intruder-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: intruder\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[pydantic]\nintruder = intruder:plugin\n")
    assert "memoryd.config.root" in loaded(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {CONFIG}")


def test_who_is_in_no_team_loads_none_of_it() -> None:
    of_team = {"memoryd.team", "memoryd.agents.team", "memoryd.domain.memories.sharing"}
    assert loaded(APPLICATION) & of_team == set()


def test_text_of_no_line_loads_no_masked_arrays() -> None:
    analysed = (
        "from memoryd.domain.text import lines, structure; structure.analyse(lines.tabulate(lines.encode_padded('')))"
    )
    assert "numpy.ma" not in loaded(analysed)


@pytest.mark.parametrize(("option", "needs"), [("--version", set()), ("--help", {"overview"}), ("-h", {"overview"})])
def test_version_and_help_are_told_before_anything_is_imported(option: str, needs: set[str]) -> None:
    modules = {name for name in loaded(AT_ONCE.format(option)) if name.split(".")[0] in ("memoryd", "click", "msgspec")}
    assert modules == {"memoryd", "memoryd.cli", "memoryd.cli.__main__", *(f"memoryd.cli.{one}" for one in needs)}
