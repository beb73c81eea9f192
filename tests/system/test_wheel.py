"""The wheel has exactly the program and the files it reads; the sdist has every tracked file."""

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


def build(folder: Path, target: str = "wheel") -> Path:
    pytest.importorskip("hatchling", reason="the build backend is not installed")
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (archive,) = folder.iterdir()
    return archive


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, which takes seconds, once."""
    return build(tmp_path_factory.mktemp("wheel"))


def forced() -> dict[str, str]:
    """Return what the configuration adds to the package, by source."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        wheel = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["memoryd"]
    found: dict[str, str] = wheel["force-include"]
    return found


def wanted() -> set[str]:
    """Return the files of the package, and those that are added."""
    own = {path.relative_to(ROOT).as_posix() for path in _files(PACKAGE)}
    for source, target in forced().items():
        origin = ROOT / source
        found = [origin] if origin.is_file() else list(_files(origin))
        own |= {f"{target}/{path.name}" if origin.is_dir() else target for path in found}
    return own


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]


def test_added_files_exist_and_cover_what_is_read() -> None:
    assert [source for source in forced() if not (ROOT / source).exists()] == []
    assert {"memoryd/store/schema/index.sql", "memoryd/config/config.example.json5"} <= wanted()
    assert {"memoryd/service/systemd/memoryd.service", "memoryd/service/launchd/ai.memoryd.plist"} <= wanted()


def test_wheel_has_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert names == wanted()
        (entries,) = [name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt")]
        assert {"memoryd = memoryd.daemon.main:main", "memoryctl = memoryd.cli.__main__:main"} <= set(
            archive.read(entries).decode().splitlines()
        )


def test_program_runs_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
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


def test_sdist_has_every_tracked_file(tmp_path: Path) -> None:
    """So its tests pass where it is unpacked, also those of the documentation."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a working copy, or there is no git")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    with tarfile.open(build(tmp_path, "sdist")) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    tracked = {name for name in listed.stdout.split("\0") if (ROOT / name).is_file()}
    assert {"docs/glossary.md", "HACKING.md"} <= tracked
    assert tracked - names == set()
