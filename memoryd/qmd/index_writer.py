"""The commands that write the index of qmd, and the models for it.

Each command waits for other writers, and a damaged index is built again. Models are links to files that were checked.
"""

import asyncio
import stat
import time
from collections.abc import Callable, Mapping, Set
from pathlib import Path

import structlog
from msgspec import Struct

from memoryd.config.agents import Agent
from memoryd.config.qmd import QmdSection
from memoryd.embed.local.local_model import find_model
from memoryd.errors import ModelError, SidecarError
from memoryd.files.reading import file_stat
from memoryd.files.scanner import file_identity
from memoryd.files.writing import make_private_folder
from memoryd.models.gguf import read_header
from memoryd.models.store import ModelStore
from memoryd.qmd.collections import sanitise_name
from memoryd.qmd.program import CompletedCommand, QmdInstallation
from memoryd.qmd.query import Complaint, complaint_of, first_error, vectors_in
from memoryd.store.examining import cut_log

log = structlog.get_logger(__name__)

BUSY_TRIES = 3
BUSY_PAUSE = 0.5
REBUILD_SECONDS = 3600.0
"""Least time between two deletions of a damaged index."""
CLEAN_TRIES = 3
"""How often qmd is asked to clean its index of private text; after that the index is deleted."""
STILL_FAILED = "still failed"
"""Part of the output of `embed` if it succeeds without making all vectors."""
EMBED_MODEL = "hf_ggml-org_embeddinggemma-300M-Q8_0.gguf"
GENERATE_MODEL = "hf_tobil_qmd-query-expansion-1.7B-q4_k_m.gguf"
RERANK_MODEL = "hf_ggml-org_qwen3-reranker-0.6b-q8_0.gguf"
"""The files that `qmd pull` puts into its folder of models."""


class MaintenanceRules(Struct, frozen=True, kw_only=True):
    """Times in seconds. An interval of 0 means never; `boot_delay` None means no update at the start."""

    makes_vectors: bool = False
    interval: float = 300.0
    debounce: float = 15.0
    boot_delay: float | None = 0.0
    embed_interval: float = 3600.0
    probe_again: float = 60.0
    """Pause after the program was not found, or is unusable."""
    command_seconds: float = 30.0
    """Time limit of a command, after which it is killed; updates and embedding have their own."""
    update_seconds: float = 120.0
    embed_seconds: float = 120.0


def maintenance_rules(settings: QmdSection) -> MaintenanceRules:
    """Return the configured times of the maintenance."""
    update = settings.update
    delay = update.startup_delay_ms / 1000 if update.startup == "idle" else 0.0
    return MaintenanceRules(
        makes_vectors=settings.has_vectors,
        interval=update.interval.total_seconds(),
        debounce=update.debounce_ms / 1000,
        boot_delay=delay if update.on_boot else None,
        embed_interval=update.embed_interval.total_seconds(),
        command_seconds=update.command_timeout_ms / 1000,
        update_seconds=update.update_timeout_ms / 1000,
        embed_seconds=update.embed_timeout_ms / 1000,
    )


class IndexWriter(Struct, kw_only=True):
    """Runs the writing commands, one at a time: only one loop calls it. All methods raise SidecarError."""

    installation: QmdInstallation
    rules: MaintenanceRules
    on_removed: Callable[[], None]
    _identity: tuple[int, int] | None = None
    _rebuilt_at: float = float("-inf")
    _failures_to_clean: int = 0

    async def status(self) -> int | None:
        """Run `status`, which opens the database, unlike `--version`; return the number of vectors."""
        return vectors_in((await self._run("status", seconds=self.rules.command_seconds)).stdout)

    async def remove_other_collections(self, names: Set[str]) -> None:
        """Remove all other collections; without their configuration alone, their documents would stay in the index."""
        for name in sorted(await asyncio.to_thread(self.installation.home.configured) - names):
            if name == sanitise_name(name):
                await self.installation.run("collection", "remove", name, seconds=self.rules.command_seconds)

    async def update(self) -> None:
        """Read all collections."""
        await self._run("update", seconds=self.rules.update_seconds)

    async def embed(self) -> str | None:
        """Make the missing vectors; return the reason if some could not be made."""
        try:
            outcome = await self._run("embed", seconds=self.rules.embed_seconds)
        except SidecarError as exc:
            # vectors of another model have another length: -f deletes them first
            if "dimension" not in str(exc).lower():
                raise
            outcome = await self._run("embed", "-f", seconds=self.rules.embed_seconds)
        return next((line.strip() for line in outcome.stdout.splitlines() if STILL_FAILED in line), None)

    async def clean(self) -> None:
        """Delete from the index file the words, texts and vectors that an update has only marked as deleted."""
        home = self.installation.home
        if await asyncio.to_thread(home.is_clean):
            return
        await self._run("cleanup", seconds=self.rules.update_seconds)
        # cut the log, too, which still contains them; that fails while the server reads
        if not await asyncio.to_thread(cut_log, home.index_file):
            raise SidecarError("the index of qmd is in use, and cannot be cleaned of what became private")
        # last: after a kill before this line, the cleaning is done again
        await asyncio.to_thread(home.note_clean, True)
        self._failures_to_clean = 0

    async def delete_if_uncleanable(self) -> bool:
        """Delete the index if it contains private text and qmd fails to clean it; return whether it was deleted."""
        home = self.installation.home
        if await asyncio.to_thread(home.is_clean):
            return False
        self._failures_to_clean += 1
        if self.installation.program is not None and self._failures_to_clean < CLEAN_TRIES:
            return False
        log.warning("the index of qmd held what became private and is deleted", home=str(home.root))
        self._failures_to_clean = 0
        await self._remove()
        return True

    async def note_replacement(self) -> bool:
        """Record the identity of the index file, and return whether it has changed since the last call."""
        before, self._identity = self._identity, await self._file_identity()
        return before is not None and self._identity != before

    async def is_in_place(self) -> bool:
        """Return whether the index on disk is the file that was last recorded."""
        identity = await self._file_identity()
        return identity is not None and identity == self._identity

    async def _file_identity(self) -> tuple[int, int] | None:
        return await asyncio.to_thread(file_identity, self.installation.home.index_file)

    async def _run(self, *arguments: str, seconds: float) -> CompletedCommand:
        for attempt in range(BUSY_TRIES):
            outcome = await self.installation.run(*arguments, seconds=seconds)
            if outcome.code == 0 and "Skipping" not in outcome.stdout:
                return outcome
            output = f"{outcome.stderr}\n{outcome.stdout}" if outcome.code == 0 else outcome.stderr
            complaint = complaint_of(output)
            is_stubborn = attempt == BUSY_TRIES - 1 and "constraint" in output.lower()
            if (complaint is Complaint.DAMAGED or is_stubborn) and await self._rebuild(output):
                continue
            if complaint is not Complaint.BUSY:
                break
            await asyncio.sleep(BUSY_PAUSE * 2**attempt)
        raise SidecarError(f"qmd {arguments[0]} failed: {_why(outcome)}")

    async def _rebuild(self, reason: str) -> bool:
        if time.monotonic() - self._rebuilt_at < REBUILD_SECONDS:
            return False
        # before the removal: a failed one counts, too, else it would be retried on a full disk without a pause
        self._rebuilt_at = time.monotonic()
        log.warning("the index of qmd is damaged and is made anew", reason=first_error(reason))
        await self._remove()
        return True

    async def _remove(self) -> None:
        await asyncio.to_thread(self.installation.home.remove_index)
        self.on_removed()


def _why(outcome: CompletedCommand) -> str:
    if outcome.code == -11 or outcome.code == 139:
        return "it crashed, as it does under a Node that is too old"
    if outcome.code < 0:
        return outcome.ending
    return first_error(outcome.stderr) or first_error(outcome.stdout) or outcome.ending


class QmdModel(Struct, frozen=True):
    """A model for qmd: the absolute path of a link, which exists if there is no `trouble`.

    With a path, qmd fails at once if the file is missing; a download without network would hang.
    """

    path: Path
    trouble: str | None = None


class ModelLinks(Struct):
    """Finds the model files at each call; reads the header of a file only if the file has changed."""

    agent: Agent
    folder: Path
    environment: Mapping[str, str]
    _checked: dict[tuple[object, ...], str | None] = {}
    """The trouble of each checked file, by path and stat."""

    def find(self) -> dict[str, QmdModel]:
        """Update the links, and return the model for each role, by qmd's name of the role."""
        cache = Path(self.environment.get("XDG_CACHE_HOME", ""))
        folder = (cache if cache.is_absolute() else Path.home() / ".cache") / "qmd" / "models"
        embed = folder / EMBED_MODEL
        if not embed.is_file():
            embed = _own_model(self.agent, self.environment) or embed
        files = {"embed": embed, "generate": folder / GENERATE_MODEL, "rerank": folder / RERANK_MODEL}
        return {role: self._link(role, model) for role, model in files.items()}

    def _link(self, role: str, model: Path) -> QmdModel:
        """Make a link to the model of a role; none if the model is unusable.

        qmd deletes files that it finds to be no model; given a link, it deletes only the link. The link has the name of
        the file, from which qmd derives the family of the model.
        """
        trouble = self._trouble(model)
        link = self.folder / role / model.name
        make_private_folder(link.parent)
        for other in link.parent.iterdir():
            if trouble is not None or other != link or not other.is_symlink() or other.readlink() != model:
                other.unlink()
        if trouble is None and not link.is_symlink():
            link.symlink_to(model)
        return QmdModel(link, trouble)

    def _trouble(self, model: Path) -> str | None:
        """Return why a file is no usable model, None if it is usable."""
        try:
            status = model.stat()
        except OSError as exc:
            return f"cannot find {model}: {exc.strerror}"
        if not stat.S_ISREG(status.st_mode):
            return f"{model} is not a file"
        seen = (model, file_stat(status))
        if seen not in self._checked:
            self._checked = {key: trouble for key, trouble in self._checked.items() if key[0] != model}
            self._checked[seen] = None
            try:
                read_header(model)
            except ModelError as exc:
                self._checked[seen] = f"{exc}; {exc.hint}" if exc.hint else str(exc)
        return self._checked[seen]


def _own_model(agent: Agent, environment: Mapping[str, str]) -> Path | None:
    """Return the file of memoryd's own embedding model, if it is present: qmd can use it, too."""
    local = agent.memory_search.local
    if agent.memory_search.provider == "none" and not Path(local.model_path).is_absolute():
        return None
    path = find_model(ModelStore.from_config(local, environment), local.model_path)
    return path.absolute() if path is not None else None
