"""The file of a token: private, and refused if others could have read or written it."""

import os
import re
import shlex
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoryd.errors import NotPermitted, StoreUnavailable
from memoryd.files.token_file import TokenFile


@pytest.fixture
def file(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "state" / "http-token")


def test_missing_file_is_created_private(file: TokenFile) -> None:
    before = os.umask(0)
    try:
        token = file.ensure()
    finally:
        os.umask(before)
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", token)
    assert file.path.read_text() == f"{token}\n"
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in file.path.parent.iterdir()] == ["http-token"]


def test_token_stays_the_same_until_it_is_rotated(file: TokenFile) -> None:
    first = file.ensure()
    assert file.ensure() == file.read() == first
    second = file.rotate()
    assert second != first
    assert file.ensure() == file.read() == second
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_concurrent_creations_give_one_token(tmp_path: Path) -> None:
    for number in range(20):
        file = TokenFile(tmp_path / f"token-{number}")
        with ThreadPoolExecutor(4) as threads:
            found = set(threads.map(lambda one: one.ensure(), [file] * 4))
        assert found == {file.read()}


def test_hinted_chmod_command_is_shell_quoted(tmp_path: Path) -> None:
    (tmp_path / "my state").mkdir()
    file = TokenFile(tmp_path / "my state" / "token")
    file.ensure()
    file.path.chmod(0o644)
    with pytest.raises(NotPermitted) as refused:
        file.read()
    assert shlex.split(refused.value.hint.partition(", or")[0]) == ["chmod", "600", str(file.path)]


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o660, 0o602, 0o700 | 0o010])
def test_file_open_to_others_is_refused_and_unchanged(file: TokenFile, mode: int) -> None:
    token = file.ensure()
    file.path.chmod(mode)
    for ask in (file.read, file.ensure):
        with pytest.raises(NotPermitted, match=f"open to others .mode {mode:04o}") as refused:
            ask()
        assert "chmod 600" in refused.value.hint
        assert token not in f"{refused.value}{refused.value.hint}"
    assert file.path.read_text().strip() == token
    assert file.rotate() != token
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


@pytest.mark.root
def test_file_of_another_user_is_refused(file: TokenFile) -> None:
    file.ensure()
    os.chown(file.path, 65534, 65534)
    with pytest.raises(NotPermitted, match="belongs to uid 65534"):
        file.read()


def test_link_is_refused_and_rotation_keeps_its_target(file: TokenFile, tmp_path: Path) -> None:
    other = TokenFile(tmp_path / "other")
    token = other.ensure()
    file.path.parent.mkdir()
    file.path.symlink_to(other.path)
    for ask in (file.read, file.ensure):
        with pytest.raises(NotPermitted, match="is a link"):
            ask()
    assert file.rotate() != token
    assert not file.path.is_symlink()
    assert other.read() == token


def test_dangling_link_is_refused_and_not_followed(file: TokenFile, tmp_path: Path) -> None:
    file.path.parent.mkdir()
    file.path.symlink_to(tmp_path / "planted")
    with pytest.raises(NotPermitted, match="is a link"):
        file.ensure()
    assert not (tmp_path / "planted").exists()


def test_pipe_and_folder_are_refused_without_blocking(file: TokenFile, tmp_path: Path) -> None:
    file.path.parent.mkdir()
    os.mkfifo(file.path, 0o600)
    with pytest.raises(NotPermitted, match="no regular file"):
        file.ensure()
    with pytest.raises(NotPermitted):
        TokenFile(tmp_path).ensure()


@pytest.mark.parametrize("content", ["", "\n", "short", "x" * 31, "x" * 600, "with a space " * 4, "ü" * 40, "a\0" * 20])
def test_file_without_a_token_is_refused(file: TokenFile, content: str) -> None:
    file.ensure()
    file.path.write_text(content)
    with pytest.raises(NotPermitted, match="holds no token") as refused:
        file.read()
    assert "--rotate" in refused.value.hint


def test_read_of_missing_file_is_an_error(file: TokenFile) -> None:
    with pytest.raises(StoreUnavailable, match="there is no token file"):
        file.read()


def test_uncreatable_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises((StoreUnavailable, NotPermitted)):
        TokenFile(tmp_path / "file" / "http-token").ensure()
