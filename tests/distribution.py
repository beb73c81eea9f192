"""What `make dist` does: builds the sdist and the wheel, and tries each as a stranger would install it.

Each goes by pip into empty environments: one where no compiler is to be found, which searches by words, and one with
the extras, which searches by meaning. There the installed daemon indexes the sample notes and answers a question.
Exits 1 with a sentence when something is not as it should be.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

import click
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from memoryd import __version__
from memoryd.config.paths import cache_dir
from tests.changelog import newest_release
from tests.daemon import STARTER
from tests.demo import IDENTIFIER, PARAPHRASE, SAMPLE, Question
from tests.waiting import eventually

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
SECONDS = 60


class Unfit(click.ClickException):
    """What was built is not what a release should be."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One way of installing: the `extras` asked for, and a question that it must answer in `mode`."""

    name: str
    extras: str
    provider: str
    question: Question
    mode: str


TRIALS = (
    Trial("words only, no compiler", "", "none", IDENTIFIER, "lexical"),
    Trial("with local and mcp", "[local,mcp]", "local", PARAPHRASE, "hybrid"),
)


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=ROOT / "dist", help="Where the archives go.")
@click.option("--words-only", is_flag=True, help="Leave out the trial with the extras, which may compile llama.cpp.")
def main(out: Path, words_only: bool) -> None:
    """Build the sdist and the wheel, and try each in empty environments."""
    archives = build(out)
    for archive in archives:
        check_version(archive)
        for trial in TRIALS[:1] if words_only else TRIALS:
            with tempfile.TemporaryDirectory(prefix="memoryd-dist-") as folder:
                attempt(archive, trial, Path(folder))
            click.echo(f"  {trial.name}: installed, asked, answered, stopped")
    if not newest_release().date:
        click.echo(f"CHANGELOG.md has no date for {__version__}: give it one before this is released")


def build(out: Path) -> list[Path]:
    """Build both archives anew; a wheel must come of the sdist alone, so it is made of what that unpacks to."""
    shutil.rmtree(out, ignore_errors=True)
    sdist = Path(next(SdistBuilder(str(ROOT)).build(directory=str(out))))
    with tempfile.TemporaryDirectory(prefix="memoryd-dist-") as folder, tarfile.open(sdist) as packed:
        packed.extractall(folder, filter="data")
        unpacked = Path(folder) / sdist.name.removesuffix(".tar.gz")
        wheel = Path(next(WheelBuilder(str(unpacked)).build(directory=str(out))))
    return [sdist, wheel]


def check_version(archive: Path) -> None:
    """Hold the name and the metadata of an archive, the program and the changelog against each other."""
    told = {
        "the name": archive.name.removesuffix(".tar.gz").split("-")[1],
        "the metadata": HeaderParser().parsestr(metadata(archive))["Version"],
        "CHANGELOG.md": newest_release().version,
    }
    if wrong := {where: version for where, version in told.items() if version != __version__}:
        raise Unfit(f"{archive.name}: memoryd says {__version__}, but {wrong}")
    click.echo(f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB, version {__version__} everywhere")


def metadata(archive: Path) -> str:
    """Return the text of METADATA or PKG-INFO."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            (name,) = [one for one in wheel.namelist() if one.endswith(".dist-info/METADATA")]
            return wheel.read(name).decode()
    with tarfile.open(archive) as sdist:
        member = sdist.extractfile(f"{archive.name.removesuffix('.tar.gz')}/PKG-INFO")
        assert member is not None
        return member.read().decode()


def attempt(archive: Path, trial: Trial, folder: Path) -> None:
    """Install an archive into an empty environment in `folder`, and use what is installed."""
    programs = installed(archive, trial, folder / "environment")
    environment = prepared(programs, trial, folder)
    with serving(programs, environment, folder):
        wait = "embedded" if trial.mode == "hybrid" else "indexed"
        asked(programs, environment, "sync", "--wait", wait, "--timeout", str(SECONDS))
        found = json.loads(asked(programs, environment, "search", trial.question.text, "--json"))
        if found["mode"] != trial.mode or found["results"][0]["path"] != trial.question.path:
            raise Unfit(f"{trial.name}: {found['mode']}, {found['results'][:1]}")
        versions = json.loads(asked(programs, environment, "version", "--json"))
        if versions != {"client": __version__, "daemon": __version__}:
            raise Unfit(f"memoryctl version says {versions}, which is not {__version__}")
        asked(programs, environment, "config", "schema")


def installed(archive: Path, trial: Trial, environment: Path) -> Path:
    """Return the folder of the programs; without extras, nothing that compiles can be found meanwhile."""
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    programs = environment / "bin"
    without = {} if trial.extras else {"PATH": str(programs), "CC": "/bin/false", "CXX": "/bin/false"}
    install = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*install, "-c", str(CONSTRAINTS), f"{archive}{trial.extras}"],
        env=clean() | without,
        capture_output=True,
        text=True,
        check=False,
        cwd=environment,
    )
    if done.returncode:
        raise Unfit(f"{trial.name}: pip cannot install {archive.name}\n{done.stderr[-2000:]}")
    return programs


def prepared(programs: Path, trial: Trial, folder: Path) -> dict[str, str]:
    """Write notes and a configuration, and return the environment of a person who has nothing else."""
    shutil.copytree(SAMPLE, folder / "notes")
    search = {"provider": trial.provider} | ({"local": {"modelPath": STARTER}} if trial.provider == "local" else {})
    defaults = {"workspace": str(folder / "notes"), "memorySearch": search}
    (folder / "config.json5").write_text(json.dumps({"agents": {"defaults": defaults}}), encoding="utf-8")
    (folder / "home").mkdir()
    return clean() | {
        "HOME": str(folder / "home"),
        "PATH": f"{programs}:/usr/bin:/bin",
        "MEMORYD_CONFIG": str(folder / "config.json5"),
        "MEMORYD_STATE_DIR": str(folder / "state"),
        "XDG_CACHE_HOME": str(cache_dir().parent),
    }


def clean() -> dict[str, str]:
    """Return our environment without what would lead a Python or a memoryd to this checkout."""
    ours = "PYTHON", "MEMORYD_", "XDG_", "VIRTUAL_ENV"
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


@contextmanager
def serving(programs: Path, environment: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Run the installed daemon in `folder`, and hold that it ends well."""
    with (folder / "daemon.log").open("wb") as log:
        daemon = subprocess.Popen([programs / "memoryd"], stdout=log, stderr=log, env=environment, cwd=folder)
    try:
        eventually(lambda: _run([str(programs / "memoryctl"), "status"], environment).returncode == 0, seconds=SECONDS)
        yield
        daemon.send_signal(signal.SIGTERM)
        if code := daemon.wait(SECONDS):
            raise Unfit(f"the daemon ended with exit code {code}")
    except BaseException:
        click.echo((folder / "daemon.log").read_text(errors="replace")[-2000:], err=True)
        raise
    finally:
        daemon.kill()
        daemon.wait()


def asked(programs: Path, environment: Mapping[str, str], *arguments: str) -> str:
    """Return what a command prints, which must succeed."""
    done = _run([str(programs / "memoryctl"), *arguments], environment)
    if done.returncode:
        raise Unfit(f"memoryctl {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def _run(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd="/")


if __name__ == "__main__":
    main()
