"""The header of a model: what is read from it, and how unfit files are described."""

import os
import struct
from pathlib import Path

import pytest
from gguf.constants import GGML_QUANT_SIZES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryd.errors import ModelError
from memoryd.models.families import inspect
from memoryd.models.gguf import BLOCKS, read_header
from tests.integration.tiny_gguf import BERT, gguf, text
from tests.sweeps import whole_or


def written(folder: Path, content: bytes) -> Path:
    path = folder / "model.gguf"
    path.write_bytes(content)
    return path


def refusal(folder: Path, content: bytes) -> str:
    with pytest.raises(ModelError) as caught:
        inspect(written(folder, content))
    assert caught.value.hint
    return str(caught.value)


def test_header_describes_the_model(tmp_path: Path) -> None:
    metadata = inspect(written(tmp_path, gguf()))

    assert (metadata.architecture, metadata.name) == ("bert", "Tiny")
    assert (metadata.dimensions, metadata.context, metadata.pooling) == (8, 64, "mean")


def test_real_starter_model_is_whole_and_for_embedding(starter_model: Path) -> None:
    metadata = inspect(starter_model)

    assert (metadata.architecture, metadata.name) == ("bert", "all-MiniLM-L6-v2")
    assert (metadata.dimensions, metadata.context, metadata.pooling) == (384, 512, "mean")
    assert read_header(starter_model).expected_bytes == starter_model.stat().st_size


def test_output_width_is_preferred_to_inner_width(tmp_path: Path) -> None:
    assert inspect(written(tmp_path, gguf({**BERT, "bert.embedding_length_out": 4}))).dimensions == 4


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no model file at .*absent\.gguf"):
        inspect(tmp_path / "absent.gguf")


def test_directory_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read"):
        inspect(tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\n<!DOCTYPE html><html><body>Sign in</body></html>", "a web page"),
        (b"<html><head>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "Git LFS pointer"),
        (b'{"error": "Repository not found"}', "JSON"),
        (b"PK\x03\x04 a zip archive", "not a GGUF"),
    ],
)
def test_other_file_types_are_named(tmp_path: Path, content: bytes, words: str) -> None:
    assert words in refusal(tmp_path, content)


def test_any_truncation_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path, gguf(weights=8))
    for length in reversed(range(1, path.stat().st_size)):
        os.truncate(path, length)
        with pytest.raises(ModelError):
            inspect(path)


def test_truncated_weights_are_reported(tmp_path: Path) -> None:
    assert "cut short" in refusal(tmp_path, gguf()[:-1])


@pytest.mark.parametrize(
    "content",
    [
        gguf(keys=2**40),
        gguf(tensors=2**40),
        gguf(version=9),
        gguf(version=3 << 24),
        b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + struct.pack("<Q", 2**62),
        b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + text("k") + struct.pack("<I", 77),
        b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + text("k") + struct.pack("<IIQ", 9, 8, 2**50),
        b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + text("k") + struct.pack("<IIQ", 9, 9, 1) * 50,
        gguf({**BERT, "general.alignment": 0}),
        gguf({**BERT, "general.alignment": "wide"}),
    ],
)
def test_invalid_counts_are_damage(tmp_path: Path, content: bytes) -> None:
    assert "damaged" in refusal(tmp_path, content)


def test_absurd_tensor_is_larger_than_the_file(tmp_path: Path) -> None:
    content = gguf(weights=4)
    huge = content.replace(struct.pack("<IQIQ", 1, 4, 0, 0), struct.pack("<IQIQ", 1, 2**63, 0, 0))
    assert "cut short" in refusal(tmp_path, huge)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"general.architecture": "llama", "llama.context_length": 8, "llama.embedding_length": 8}, "writes text"),
        ({**BERT, "bert.pooling_type": 4}, "reranker"),
        ({**BERT, "split.count": 3}, "one of 3 parts"),
        ({**BERT, "bert.embedding_length": 0}, "vectors of 0"),
        ({"general.name": "nothing else"}, "does not say what it is"),
    ],
)
def test_models_for_other_purposes_are_refused(tmp_path: Path, values: dict[str, object], words: str) -> None:
    assert words in refusal(tmp_path, gguf(values))


def test_decoder_with_pooling_is_accepted(tmp_path: Path) -> None:
    values = {
        "general.architecture": "qwen3",
        "general.name": "Qwen3 Embedding 0.6B",
        "qwen3.context_length": 32768,
        "qwen3.embedding_length": 1024,
        "qwen3.pooling_type": 3,
    }
    assert inspect(written(tmp_path, gguf(values))).pooling == "last"


@settings(max_examples=whole_or(20, 200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 400), noise=st.binary(min_size=1, max_size=16))
def test_changed_bytes_give_metadata_or_a_model_error(tmp_path: Path, place: int, noise: bytes) -> None:
    content = bytearray(gguf())
    content[place : place + len(noise)] = noise
    path = written(tmp_path, bytes(content))
    try:
        metadata = inspect(path)
    except ModelError:
        return
    assert 0 < metadata.dimensions <= 65_536


def test_sizes_of_tensor_types_equal_those_of_ggml() -> None:
    assert {int(kind): sizes for kind, sizes in GGML_QUANT_SIZES.items()} == BLOCKS
