"""The wheel holds the program and all that it reads, and nothing else; the sdist holds all that is tracked."""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "memoryd"


def built(folder: Path, target: str = "wheel") -> Path:
    pytest.importorskip("hatchling", reason="the build backend is not installed")
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (archive,) = folder.iterdir()
    return archive


def forced() -> dict[str, str]:
    """Return what the configuration adds to the package: from where, and to where."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        wheel = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["memoryd"]
    found: dict[str, str] = wheel["force-include"]
    return found


def wanted() -> set[str]:
    """Return the files of the package, and those that are put beside them."""
    own = {path.relative_to(ROOT).as_posix() for path in _files(PACKAGE)}
    for source, target in forced().items():
        origin = ROOT / source
        found = [origin] if origin.is_file() else list(_files(origin))
        own |= {f"{target}/{path.name}" if origin.is_dir() else target for path in found}
    return own


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]


def test_what_the_wheel_adds_is_there_and_covers_what_is_read_besides_python() -> None:
    assert [source for source in forced() if not (ROOT / source).exists()] == []
    assert {"memoryd/store/schema/index.sql", "memoryd/config/config.example.json5"} <= wanted()
    assert {"memoryd/service/systemd/memoryd.service", "memoryd/service/launchd/ai.memoryd.plist"} <= wanted()


def test_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    with zipfile.ZipFile(built(tmp_path)) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        assert names == wanted()
        (entries,) = [name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt")]
        assert {"memoryd = memoryd.daemon.main:main", "memoryctl = memoryd.cli.__main__:main"} <= set(
            wheel.read(entries).decode().splitlines()
        )


def test_program_runs_from_the_wheel_alone(tmp_path: Path) -> None:
    with zipfile.ZipFile(built(tmp_path)) as wheel:
        wheel.extractall(tmp_path / "installed")
    command = [sys.executable, "-P", "-c", "import memoryd.daemon.app as app; print(app.__file__)"]
    shown = subprocess.run(
        command,
        cwd="/",
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.startswith(str(tmp_path / "installed"))


def test_sdist_holds_all_that_is_under_version_control(tmp_path: Path) -> None:
    """So its tests pass where it is unpacked, those of the documentation among them."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a working copy, or there is no git")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    with tarfile.open(built(tmp_path, "sdist")) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    tracked = {name for name in listed.stdout.split("\0") if (ROOT / name).is_file()}
    assert {"docs/glossary.md", "HACKING.md"} <= tracked
    assert tracked - names == set()
