"""Rerankers are recognised by their header, and errors name the configuration key of the file."""

from pathlib import Path

import gguf
import pytest

from memoryd.errors import ModelError
from memoryd.models.families import EITHER, inspect_reranker
from tests.tiny_rankers import write_bert_ranker, write_qwen_ranker

KEY = "query.rerank.modelPath"


def refused(path: Path) -> ModelError:
    """Return the error for a file that is no reranker; its hint names the key."""
    with pytest.raises(ModelError) as caught:
        inspect_reranker(path)
    assert KEY in caught.value.hint
    assert "local.modelPath" not in f"{caught.value} {caught.value.hint}"
    return caught.value


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("bge-reranker-v2-m3", "bge-reranker"),
        ("Bge Reranker Base", "bge-reranker"),
        ("jina-reranker-v2-base-multilingual", "jina-reranker"),
        ("ms-marco-MiniLM-L6", "plain"),
    ],
)
def test_family_is_derived_from_the_name(tmp_path: Path, name: str, family: str) -> None:
    found = inspect_reranker(write_bert_ranker(tmp_path / "model.gguf", name=name, context=128))
    assert (found.name, found.family, found.architecture, found.context) == (name, family, "bert", 128)


def test_decoder_with_yes_or_no_is_a_reranker(tmp_path: Path) -> None:
    found = inspect_reranker(write_qwen_ranker(tmp_path / "model.gguf"))
    assert (found.family, found.architecture, found.context) == ("qwen3-reranker", "qwen3", 512)


def test_ranking_head_is_enough_without_pooling_type(tmp_path: Path) -> None:
    for number, pooling in enumerate((None, gguf.PoolingType.CLS)):
        path = write_bert_ranker(tmp_path / f"{number}.gguf", pooling=pooling)
        assert inspect_reranker(path).family == "bge-reranker"


def test_embedding_model_is_refused(starter_model: Path) -> None:
    assert "no head that ranks (architecture bert)" in str(refused(starter_model))


def test_decoder_without_a_head_is_refused(tmp_path: Path) -> None:
    path = write_qwen_ranker(tmp_path / "model.gguf", has_head=False)
    assert "no head that ranks (architecture qwen3)" in str(refused(path))


def test_decoder_without_rerank_template_is_refused(tmp_path: Path) -> None:
    assert "tokenizer.chat_template.rerank" in str(refused(write_qwen_ranker(tmp_path / "model.gguf", template=None)))


def test_missing_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    whole = write_bert_ranker(tmp_path / "whole.gguf").read_bytes()
    for content, reason in (
        (None, "there is no model file"),
        (b"", "empty"),
        (b"<!DOCTYPE html>", "a web page"),
        (whole[:2000], "cut short"),
        (whole[:-4000], "cut short"),
        (b"GGUF" + b"\xff" * 60, "damaged"),
    ):
        path = tmp_path / "model.gguf"
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        assert reason in str(refused(path)), reason


def test_embedding_model_or_reranker_is_accepted_by_name(tmp_path: Path, starter_model: Path) -> None:
    EITHER.check(starter_model)
    EITHER.check(write_qwen_ranker(tmp_path / "ranker.gguf"))
    with pytest.raises(ModelError, match="writes text"):
        EITHER.check(write_qwen_ranker(tmp_path / "writer.gguf", has_head=False, pooling=None, name="Tiny"))
