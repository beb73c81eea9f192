"""What the first bytes of a file say, and whether its name agrees."""

import pytest

from memoryd.domain.media import Modality, checked, label, modality_of, sniff

HEADS = {
    "photo.jpg": (bytes.fromhex("ffd8ffe000104a464946"), "image/jpeg"),
    "photo.jpeg": (bytes.fromhex("ffd8ffe1"), "image/jpeg"),
    "shot.png": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png"),
    "move.gif": (b"GIF89a\x01\x00\x01\x00", "image/gif"),
    "pic.webp": (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp"),
    "live.heic": (b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic", "image/heic"),
    "burst.heif": (b"\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00mif1heif", "image/heif"),
    "song.mp3": (b"ID3\x04\x00\x00", "audio/mpeg"),
    "bare.mp3": (b"\xff\xfb\x90\x64", "audio/mpeg"),
    "memo.wav": (b"RIFF\x24\x08\x00\x00WAVEfmt ", "audio/wav"),
    "voice.ogg": (b"OggS\x00\x02", "audio/ogg"),
    "voice.opus": (b"OggS\x00\x02", "audio/ogg"),
    "memo.m4a": (b"\x00\x00\x00\x1cftypM4A \x00\x00\x02\x00M4A mp42isom", "audio/mp4"),
    "mixed.m4a": (b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42M4A ", "audio/mp4"),
    "raw.aac": (b"\xff\xf1\x50\x80", "audio/aac"),
    "good.flac": (b"fLaC\x00\x00\x00\x22", "audio/flac"),
}


@pytest.mark.parametrize("name", HEADS)
def test_supported_formats_are_known_by_their_first_bytes(name: str) -> None:
    head, mime = HEADS[name]
    media = checked(name.upper(), head + bytes(600))
    assert media is not None
    assert media.mime == mime


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\xff",
        b"# A note in Markdown",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%PDF-1.7",
        b"PK\x03\x04",
        b"RIFF\x24\x00\x00\x00AVI ",
        b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomavc1",
        b"\xff\xfe#\x00 \x00",  # UTF-16 with its mark
        b"\xff\xff\xff\xff",
        b"\xff" * 600,
    ],
)
def test_other_bytes_are_nothing(head: bytes) -> None:
    assert sniff(head) is None


def test_name_and_bytes_must_agree() -> None:
    png = HEADS["shot.png"][0]
    assert checked("shot.jpg", png) is not None
    assert checked("shot.mp3", png) is None
    assert checked("shot.md", png) is None
    assert checked("notes.png", b"ssh-rsa AAAA") is None


def test_label_names_kind_and_place() -> None:
    assert label("assets/holiday.PNG") == "Image file: assets/holiday.PNG"
    assert label("voice/memo.m4a") == "Audio file: voice/memo.m4a"
    assert label("notes.md") == ""
    assert modality_of("memo.m4a") is Modality.AUDIO


def test_any_beginning_is_read_without_error() -> None:
    for head, _ in HEADS.values():
        for length in range(len(head)):
            sniff(head[:length])
    sniff(b"\xff\xff\xff\xffftyp")
