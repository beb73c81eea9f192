"""Detection of the media type by the first bytes and the name of a file."""

import pytest

from memoryd.domain.media import (
    MediaRules,
    Modality,
    embeds_media,
    label,
    modalities_of,
    modality_of,
    sniff,
    token_estimate,
    verified_mime,
)
from tests import media_files

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
def test_supported_format_is_detected_by_first_bytes(name: str) -> None:
    head, mime = HEADS[name]
    assert verified_mime(name.upper(), head + bytes(600)) == mime


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
def test_other_bytes_have_no_media_type(head: bytes) -> None:
    assert sniff(head) is None


def test_name_and_bytes_must_agree() -> None:
    png = HEADS["shot.png"][0]
    assert verified_mime("shot.jpg", png) is not None
    assert verified_mime("shot.mp3", png) is None
    assert verified_mime("shot.md", png) is None
    assert verified_mime("notes.png", b"ssh-rsa AAAA") is None


def test_label_has_kind_and_file_name() -> None:
    assert label("assets/holiday.PNG") == "Image file: holiday.PNG"
    assert label("../voice/memo.m4a") == "Audio file: memo.m4a"
    assert label("assets/海边的木屋 2.png") == "Image file: 海边的木屋 2.png"
    assert label("a\n\nSource: x.md#L1\u2028\u202e.png") == "Image file: a  Source: x.md#L1  .png"
    assert label("notes.md") == ""
    assert modality_of("memo.m4a") is Modality.AUDIO


def test_any_truncated_head_is_sniffed_without_error() -> None:
    known = {mime for _, mime in HEADS.values()}
    beginnings = [head[:length] for head, _ in HEADS.values() for length in range(len(head))]
    for beginning in (*beginnings, b"\xff\xff\xff\xffftyp"):
        media = sniff(beginning)
        assert media is None or media in known


@pytest.mark.parametrize(
    ("name", "data", "mime"),
    [
        ("a.png", media_files.png("a red bicycle"), "image/png"),
        ("a.jpg", media_files.jpeg("a red bicycle"), "image/jpeg"),
        ("a.wav", media_files.wav("a blackbird"), "audio/wav"),
        ("a.mp3", media_files.mp3("a blackbird"), "audio/mpeg"),
    ],
)
def test_generated_test_files_have_their_media_type(name: str, data: bytes, mime: str) -> None:
    assert verified_mime(name, data) == mime
    assert media_files.seen_in(data).startswith("a ")


def test_rules_admit_configured_modalities() -> None:
    assert modalities_of(["image"]) == {Modality.IMAGE}
    assert modalities_of(["image", "all"]) == modalities_of([]) == set(Modality)
    rules = MediaRules(modalities_of(["audio"]), 100)
    assert rules.admits("voice/a.MP3")
    assert not rules.admits("a.png")
    assert not rules.admits("a.md")
    assert not rules.admits(".png")


def test_only_gemini_2_embeds_media() -> None:
    assert embeds_media("gemini", "gemini-embedding-2-preview")
    assert embeds_media("gemini", "models/gemini-embedding-2-preview")
    assert not embeds_media("gemini", "gemini-embedding-001")
    assert not embeds_media("gemini", "")
    assert not embeds_media("openai", "gemini-embedding-2-preview")


def test_token_estimate_of_audio_grows_up_to_a_limit() -> None:
    assert token_estimate(Modality.IMAGE, 10) == token_estimate(Modality.IMAGE, 10**7) > 0
    assert 0 < token_estimate(Modality.AUDIO, 10) < token_estimate(Modality.AUDIO, 10**5)
    assert token_estimate(Modality.AUDIO, 10**8) == token_estimate(Modality.AUDIO, 10**9)
