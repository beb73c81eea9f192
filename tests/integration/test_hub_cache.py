"""Models in the shared Hugging Face cache: used in place, or downloaded if unusable."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memoryd.config.providers import LocalSection
from memoryd.errors import ModelError
from memoryd.models.fetching import Progress
from memoryd.models.source import hub_cache_folder
from memoryd.models.store import ModelStore
from tests.integration.model_server import ModelServer
from tests.integration.tiny_gguf import BERT, gguf

CONTENT = gguf(weights=4_000)
COMMIT = "0123456789abcdef0123456789abcdef01234567"
BLOB = "b" * 64
HF = "hf:owner/repository/m.gguf"


class HubCache:
    """A shared cache with one file in it, in the layout of huggingface_hub."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repository = folder / "models--owner--repository"
        self.ref = self.repository / "refs" / "main"
        self.blob = self.repository / "blobs" / BLOB
        self.file = self.repository / "snapshots" / COMMIT / "m.gguf"

    def lay_out(self) -> None:
        for path in (self.ref, self.blob, self.file):
            path.parent.mkdir(parents=True)
        self.ref.write_text(COMMIT)
        self.blob.write_bytes(CONTENT)
        self.file.symlink_to(f"../../blobs/{BLOB}")

    def link_to(self, target: str | Path) -> None:
        self.file.unlink()
        self.file.symlink_to(target)


@pytest.fixture
def cache(tmp_path: Path) -> HubCache:
    cache = HubCache(tmp_path / "hub")
    cache.lay_out()
    return cache


@pytest.fixture
async def hub() -> AsyncIterator[ModelServer]:
    async with ModelServer(CONTENT, linked=True).running() as running:
        yield running


@pytest.fixture
def store(hub: ModelServer, cache: HubCache, tmp_path: Path) -> ModelStore:
    return ModelStore.from_config(
        LocalSection(model_cache_dir=str(tmp_path / "models")),
        {"HF_HUB_CACHE": str(cache.folder), "HF_ENDPOINT": hub.url},
    )


def ignore(_progress: Progress) -> None:
    pass


def state_of(folder: Path) -> list[tuple[str, int, int]]:
    found = [(str(path), path.lstat()) for path in sorted(folder.rglob("*"))]
    return [(name, status.st_mtime_ns, status.st_mode) for name, status in found]


async def test_shared_model_is_used_in_place(store: ModelStore, hub: ModelServer, cache: HubCache) -> None:
    before = state_of(cache.folder)

    assert await store.fetch(HF, ignore) == store.locate(HF) == cache.file

    assert hub.asked == []
    assert state_of(cache.folder) == before
    assert not store.folder.exists()


async def test_shared_model_is_used_offline(cache: HubCache, tmp_path: Path) -> None:
    environment = {"HF_HUB_CACHE": str(cache.folder), "HF_HUB_OFFLINE": "1", "MEMORYD_OFFLINE": "1"}
    store = ModelStore.from_config(
        LocalSection(model_cache_dir=str(tmp_path / "models")), environment, allow_download=False
    )

    assert await store.fetch(HF, ignore) == cache.file


async def test_own_copy_comes_first(store: ModelStore) -> None:
    own = store.folder / "owner--repository--m.gguf"
    own.parent.mkdir()
    own.write_bytes(CONTENT)

    assert await store.fetch(HF, ignore) == store.locate(HF) == own


def test_shared_model_is_never_removed(store: ModelStore, cache: HubCache) -> None:
    before = state_of(cache.folder)

    with pytest.raises(ModelError, match="shared Hugging Face cache") as caught:
        store.remove(HF)

    assert str(cache.file) in str(caught.value)
    assert state_of(cache.folder) == before


@pytest.mark.parametrize("revision", ["v1", "refs/pr/1"])
def test_revision_is_resolved_by_its_ref(store: ModelStore, cache: HubCache, revision: str) -> None:
    assert store.locate(f"{HF}@{revision}") is None
    ref = cache.repository / "refs" / revision
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(f"{COMMIT}\n")
    assert store.locate(f"{HF}@{revision}") == cache.file


def test_commit_needs_no_ref(store: ModelStore, cache: HubCache) -> None:
    cache.ref.unlink()

    assert store.locate(f"{HF}@{COMMIT}") == cache.file
    assert store.locate(HF) is None


def test_file_in_a_folder_of_the_repository_is_found(store: ModelStore, cache: HubCache) -> None:
    below = cache.file.parent / "gguf" / "q8.gguf"
    below.parent.mkdir()
    below.symlink_to(f"../../../blobs/{BLOB}")

    assert store.locate("hf:owner/repository/gguf/q8.gguf") == below


def test_file_without_a_blob_is_used(store: ModelStore, cache: HubCache) -> None:
    cache.file.unlink()
    cache.blob.rename(cache.file)

    assert store.locate(HF) == cache.file


def dangle(cache: HubCache) -> None:
    cache.blob.unlink()


def circle(cache: HubCache) -> None:
    cache.link_to(cache.file)


def escape(cache: HubCache) -> None:
    outside = cache.folder.parent / "outside.gguf"
    outside.write_bytes(CONTENT)
    cache.link_to(outside)


def escape_by_ref(cache: HubCache) -> None:
    outside = cache.folder.parent / "outside"
    outside.mkdir()
    (outside / "m.gguf").write_bytes(CONTENT)
    cache.ref.write_text("../../../outside")


def way_by_ref(cache: HubCache) -> None:
    cache.ref.write_text(f"../snapshots/{COMMIT}")


def binary_ref(cache: HubCache) -> None:
    cache.ref.write_bytes(b"\xff" * 40)


def folder_as_ref(cache: HubCache) -> None:
    cache.ref.unlink()
    cache.ref.mkdir()


def pipe_as_ref(cache: HubCache) -> None:
    cache.ref.unlink()
    os.mkfifo(cache.ref)


def folder_as_file(cache: HubCache) -> None:
    cache.file.unlink()
    cache.file.mkdir()


def pipe(cache: HubCache) -> None:
    cache.blob.unlink()
    os.mkfifo(cache.blob)


def incomplete(cache: HubCache) -> None:
    cache.link_to(cache.blob.rename(cache.blob.with_suffix(".incomplete")))


def cut_short(cache: HubCache) -> None:
    cache.blob.write_bytes(CONTENT[:-1000])


def web_page(cache: HubCache) -> None:
    cache.blob.write_bytes(b"<!doctype html>")


def reranker(cache: HubCache) -> None:
    cache.blob.write_bytes(gguf({**BERT, "bert.pooling_type": 4}))


@pytest.mark.parametrize(
    "spoil",
    [
        *(dangle, circle, escape, escape_by_ref, way_by_ref, binary_ref, folder_as_ref, pipe_as_ref),
        *(folder_as_file, pipe, incomplete, cut_short, web_page, reranker),
    ],
    ids=lambda spoil: spoil.__name__,
)
async def test_unusable_cached_model_is_downloaded(
    store: ModelStore, hub: ModelServer, cache: HubCache, spoil: object
) -> None:
    assert callable(spoil)
    spoil(cache)
    before = state_of(cache.folder)
    assert store.locate(HF) is None

    path = await store.fetch(HF, ignore)

    assert (path.parent, path.read_bytes()) == (store.folder, CONTENT)
    assert hub.methods() == ["HEAD", "GET", "GET"]
    assert state_of(cache.folder) == before


def test_repaired_cached_model_is_used(store: ModelStore, cache: HubCache) -> None:
    cut_short(cache)
    assert store.locate(HF) is None

    cache.blob.write_bytes(CONTENT)

    assert store.locate(HF) == cache.file


@pytest.mark.parametrize(
    "spec", ["hf:other/repository/m.gguf", "hf:owner/repository/other.gguf", "https://host/m.gguf"]
)
def test_other_specs_do_not_match_the_cache(store: ModelStore, spec: str) -> None:
    assert store.locate(spec) is None


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"HF_HUB_CACHE": "/a", "HF_HOME": "/b", "XDG_CACHE_HOME": "/c"}, "/a"),
        ({"HF_HUB_CACHE": "", "HF_HOME": "/b", "XDG_CACHE_HOME": "/c"}, "/b/hub"),
        ({"XDG_CACHE_HOME": "/c"}, "/c/huggingface/hub"),
        ({"HF_HOME": "~/b"}, "{home}/b/hub"),
        ({}, "{home}/.cache/huggingface/hub"),
    ],
)
def test_cache_folder_follows_the_environment(environment: dict[str, str], folder: str) -> None:
    assert hub_cache_folder(environment) == Path(folder.format(home=Path.home()))


def test_unknown_home_means_no_shared_cache(tmp_path: Path) -> None:
    environment = {"HF_HOME": "~nobody-of-this-name/cache"}

    assert hub_cache_folder(environment) is None
    assert ModelStore.from_config(LocalSection(model_cache_dir=str(tmp_path)), environment).locate(HF) is None
