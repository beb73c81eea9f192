"""The program of the service, and whether it is temporary."""

from pathlib import Path

import pytest

from memoryd.service.installing import daemon_command, why_temporary


def installed(folder: Path) -> Path:
    """Create a virtual environment and return its interpreter."""
    (folder / "bin").mkdir(parents=True)
    for name in ("python", "memoryd"):
        (folder / "bin" / name).write_text("#!/bin/sh\n")
        (folder / "bin" / name).chmod(0o755)
    return folder / "bin" / "python"


def test_service_is_the_command_beside_the_interpreter(tmp_path: Path) -> None:
    python = installed(tmp_path / "my venv")
    assert daemon_command(str(python)) == (str(tmp_path / "my venv" / "bin" / "memoryd"),)


def test_link_of_pipx_or_uv_is_used_if_it_leads_to_our_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    python = installed(tmp_path / ".local" / "share" / "uv" / "tools" / "memoryd")
    other = installed(tmp_path / "other")
    link = tmp_path / ".local" / "bin" / "memoryd"
    link.parent.mkdir(parents=True)
    link.symlink_to(other.parent / "memoryd")
    assert daemon_command(str(python)) == (str(python.parent / "memoryd"),)
    link.unlink()
    link.symlink_to(python.parent / "memoryd")
    assert daemon_command(str(python)) == (str(link),)


def test_temporary_program_is_recognised(tmp_path: Path) -> None:
    assert "is gone" in why_temporary(str(tmp_path / "none"))
    python = installed(tmp_path / ".cache" / "uv" / "archive-v0" / "x")
    assert why_temporary(str(python.parent / "memoryd"))
    assert why_temporary("/bin/sh") == ""
