"""The models that an agent's qmd may use: which files, whether they are models at all, and the links it is given."""

import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memoryd.config.agents import Agent
from memoryd.embed.local.local_model import model_file
from memoryd.errors import MemorydError, ModelError
from memoryd.models.gguf import read_header
from memoryd.models.store import ModelStore

EMBED_MODEL = "hf_ggml-org_embeddinggemma-300M-Q8_0.gguf"
GENERATE_MODEL = "hf_tobil_qmd-query-expansion-1.7B-q4_k_m.gguf"
RERANK_MODEL = "hf_ggml-org_qwen3-reranker-0.6b-q8_0.gguf"
"""The files that `qmd pull` leaves in the folder of its models."""


@dataclass(frozen=True, slots=True)
class QmdModel:
    """A model as qmd is told of it: the absolute path of a link, which is there if there is no `trouble`.

    A missing file fails at once, where a download without network hangs.
    """

    path: Path
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class QmdModels:
    """The model of each role."""

    embed: QmdModel
    generate: QmdModel
    rerank: QmdModel

    @property
    def paths(self) -> dict[str, Path]:
        """The path of each role, by the name that qmd has for it."""
        return {"embed": self.embed.path, "generate": self.generate.path, "rerank": self.rerank.path}


class ModelLinks:
    """Finds the model files anew at each call, and reads the header of one only when the file is another."""

    def __init__(self, agent: Agent, folder: Path, environment: Mapping[str, str]) -> None:
        self._agent = agent
        self._folder = folder
        self._environment = environment
        self._looked_at: dict[tuple[object, ...], str | None] = {}

    def find(self) -> QmdModels:
        """Return what qmd is given for each role; its links are as they should be afterwards."""
        cache = Path(self._environment.get("XDG_CACHE_HOME", ""))
        folder = (cache if cache.is_absolute() else Path.home() / ".cache") / "qmd" / "models"
        embed = folder / EMBED_MODEL
        if not embed.is_file():
            embed = _own_model(self._agent, self._environment) or embed
        return QmdModels(
            embed=self._show("embed", embed),
            generate=self._show("generate", folder / GENERATE_MODEL),
            rerank=self._show("rerank", folder / RERANK_MODEL),
        )

    def _show(self, role: str, model: Path) -> QmdModel:
        """Link to the model of a role, or to none if it is in trouble.

        qmd deletes whatever it finds to be no model. By the link it deletes the link, even of a file that was one
        when it was looked at; the link has the name of the file, from which qmd tells the family of the model.
        """
        trouble = self._trouble(model)
        link = self._folder / role / model.name
        link.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for other in link.parent.iterdir():
            if trouble is not None or other != link or not other.is_symlink() or other.readlink() != model:
                other.unlink()
        if trouble is None and not link.is_symlink():
            link.symlink_to(model)
        return QmdModel(link, trouble)

    def _trouble(self, model: Path) -> str | None:
        """Return why a file is no model to be shown."""
        try:
            status = model.stat()
        except OSError as exc:
            return f"cannot find {model}: {exc.strerror}"
        if not stat.S_ISREG(status.st_mode):
            return f"{model} is not a file"
        seen = (model, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        if seen not in self._looked_at:
            self._looked_at = {one: said for one, said in self._looked_at.items() if one[0] != model}
            self._looked_at[seen] = _read_trouble(model)
        return self._looked_at[seen]


def _read_trouble(model: Path) -> str | None:
    try:
        read_header(model)
    except ModelError as exc:
        return f"{exc}; {exc.hint}" if exc.hint else str(exc)
    return None


def _own_model(agent: Agent, environment: Mapping[str, str]) -> Path | None:
    """Return the model that memoryd embeds with, if it is here: qmd can use the same file."""
    local = agent.memory_search.local
    if agent.memory_search.provider == "none" and not Path(local.model_path).is_absolute():
        return None
    try:
        found = ModelStore.configured(local, environment).locate(model_file(local.model_path))
    except MemorydError:
        return None
    return found.absolute() if found is not None else None
