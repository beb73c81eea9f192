"""Paths are the same for daemon and clients, whatever the environment."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryd.config import paths
from memoryd.config.loading.overrides import read_environment


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a home folder with a short name; a long one moves the socket."""
    with tempfile.TemporaryDirectory(prefix="home-") as folder:
        monkeypatch.setenv("HOME", folder)
        yield Path(folder)


def test_defaults_are_in_the_home_folder(home: Path) -> None:
    assert paths.config_file() == home / ".config/memoryd/config.json5"
    assert paths.state_dir() == home / ".local/state/memoryd"
    assert paths.models_dir() == home / ".cache/memoryd/models"
    assert paths.socket_path() == home / ".local/state/memoryd/run/memoryd.sock"


def test_xdg_variables_move_them_and_relative_values_are_ignored(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/etc/xdg")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert paths.config_file() == Path("/etc/xdg/memoryd/config.json5")
    assert paths.socket_path() == Path("/run/user/7/memoryd/memoryd.sock")
    assert paths.state_dir() == home / ".local/state/memoryd"


def test_own_variables_override_xdg(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/var/state")
    monkeypatch.setenv("MEMORYD_STATE_DIR", "~/elsewhere")
    monkeypatch.setenv("MEMORYD_SOCKET", "here.sock")
    monkeypatch.setenv("MEMORYD_CONFIG", "/tmp/c.json5")
    assert paths.state_dir() == home / "elsewhere"
    assert paths.socket_path() == Path.cwd() / "here.sock"
    assert paths.config_file() == Path("/tmp/c.json5")


def test_longest_allowed_socket_path_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = "/" + "s" * (paths.SOCKET_PATH_MAX - 1)
    monkeypatch.setenv("MEMORYD_SOCKET", longest)
    assert str(paths.socket_path()) == longest


def test_f099_too_long_socket_path_becomes_a_short_hashed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path too long for a socket becomes a short one in the runtime folder, for daemon and clients."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    monkeypatch.setenv("MEMORYD_SOCKET", "/" + "s" * paths.SOCKET_PATH_MAX)
    first = paths.socket_path()
    monkeypatch.setenv("MEMORYD_SOCKET", "/" + "t" * paths.SOCKET_PATH_MAX)
    assert first.parent == Path("/run/user/7/memoryd")
    assert first.suffix == ".sock"
    assert first != paths.socket_path()


def test_f099_too_long_runtime_folder_falls_back_to_the_home_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """If the runtime folder is too long itself, the short path is in the home folder."""
    monkeypatch.setenv("HOME", "/h")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/" + "键" * paths.SOCKET_PATH_MAX)
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    found = paths.socket_path()
    assert found.parent == Path("/h/.memoryd")
    assert len(os.fsencode(found)) <= paths.SOCKET_PATH_MAX


def test_every_spelling_of_a_workspace_has_one_state_folder(home: Path) -> None:
    workspace = home / "My Notes"
    workspace.mkdir()
    (home / "link").symlink_to(workspace)
    found = paths.workspace_state_dir(workspace)
    assert found.parent == paths.state_dir() / "workspaces"
    assert found.name.startswith("my-notes-")
    assert {paths.workspace_state_dir(home / name) for name in ("link", "My Notes/", "x/../My Notes")} == {found}


def test_workspaces_of_one_name_have_different_state_folders(home: Path) -> None:
    assert paths.workspace_state_dir(home / "a/notes") != paths.workspace_state_dir(home / "b/notes")


@pytest.mark.parametrize("name", ["笔记", "---", "\udcff", "n" * 200])
def test_state_folder_has_a_plain_short_name(home: Path, name: str) -> None:
    found = paths.workspace_state_dir(home / name).name
    assert found.isascii()
    assert len(found) <= 41
    assert not found.startswith("-")


def test_expand_knows_home_and_base(home: Path) -> None:
    assert paths.expand("~/notes/", Path("/w")) == home / "notes"
    assert paths.expand("../team", Path("/w")) == Path("/w/../team")
    assert paths.expand("/srv/x", Path("/w")) == Path("/srv/x")
    assert paths.expand("~nobody-of-that-name/x", Path("/w")) == Path("/w/~nobody-of-that-name/x")


def test_paths_import_neither_pydantic_nor_json5() -> None:
    check = "import memoryd.config.paths, sys; sys.exit(bool({'pydantic', 'json5'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_workspace_variable_is_read_in_a_deleted_working_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = home / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    found, problems = read_environment({"MEMORYD_WORKSPACE": str(home / "notes")})
    assert (found.workspace, problems) == (home / "notes", [])
