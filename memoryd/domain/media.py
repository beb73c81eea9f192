"""Pictures and sounds: detection by name and first bytes, limits of the model, and their labels in the index.

The signatures are from the specifications of the formats; a name alone proves nothing.
"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

HEAD_BYTES = 512
"""Number of bytes at the beginning of a file that `sniff` needs."""


class Modality(StrEnum):
    """Kind of a media file."""

    IMAGE = "image"
    AUDIO = "audio"


def modality_of_mime(mime: str) -> Modality:
    """Return the modality of a MIME type; raises ValueError for another type."""
    return Modality(mime.partition("/")[0])


EXTENSIONS = {
    **dict.fromkeys((".jpg", ".jpeg", ".png", ".webp", ".gif", ".heic", ".heif"), Modality.IMAGE),
    **dict.fromkeys((".mp3", ".wav", ".ogg", ".opus", ".m4a", ".aac", ".flac"), Modality.AUDIO),
}
"""Modality by file extension, in lower case."""
LABELS = {Modality.IMAGE: "Image file", Modality.AUDIO: "Audio file"}
ALL = "all"

PROVIDER = "gemini"
MODELS = ("gemini-embedding-2-preview", "gemini-embedding-2")
"""Models that embed pictures, sounds and texts in one vector space."""
DIMENSIONS = (768, 1536, 3072)
"""All dimensions that these models offer."""
MODEL_PREFIXES = ("models/", "google/", "gemini/")
"""Prefixes of the names of the provider's models in other programs."""

IMAGE_TOKENS = 258
AUDIO_BYTES_PER_TOKEN = 500
AUDIO_TOKENS_MAX = 2560
"""By Gemini's guide a picture is one tile, and sound has 32 tokens per second (here at 128 kbit/s), up to 80 s."""

_MAGIC = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"ADIF", "audio/aac"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_BRANDS = {
    **dict.fromkeys((b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis"), "image/heic"),
    **dict.fromkeys((b"mif1", b"msf1", b"heif"), "image/heif"),
    **dict.fromkeys((b"M4A ", b"M4B ", b"M4P "), "audio/mp4"),
}
"""Brands of the ISO base media file format (ISO/IEC 14496-12 section 4.3)."""


class MediaRules(Struct, frozen=True):
    """Which pictures and sounds are documents."""

    modalities: frozenset[Modality]
    max_file_bytes: int

    def admits(self, name: str) -> bool:
        """Return whether a file of this name may be a document."""
        return modality_of(name) in self.modalities


def modalities_of(names: Iterable[str]) -> frozenset[Modality]:
    """Return the modalities named by `image`, `audio` and `all`; all modalities if there are no names."""
    named = frozenset(names)
    return frozenset(Modality) if not named or ALL in named else frozenset(map(Modality, named))


def embeds_media(provider: str, model: str) -> bool:
    """Return whether this model of this provider embeds pictures and sounds."""
    for prefix in MODEL_PREFIXES:
        model = model.removeprefix(prefix)
    return provider == PROVIDER and model in MODELS


def token_estimate(modality: Modality, size: int) -> int:
    """Return the approximate number of tokens for a file of `size` bytes."""
    if modality is Modality.IMAGE:
        return IMAGE_TOKENS
    return min(AUDIO_TOKENS_MAX, 1 + size // AUDIO_BYTES_PER_TOKEN)


def modality_of(name: str) -> Modality | None:
    """Return the modality that a file of this name should have; None if it is neither picture nor sound."""
    stem, dot, extension = name.rpartition("/")[2].rpartition(".")
    return EXTENSIONS.get((dot + extension).lower()) if stem else None


def sniff(head: bytes) -> str | None:
    """Return the MIME type of a file from its first bytes; None for an unsupported format."""
    for magic, mime in _MAGIC:
        if head.startswith(magic):
            return mime
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12])
    if head[4:8] != b"ftyp":
        return _mpeg_frame(head)
    # the first known brand: the major one, then those that the file is compatible with
    size = min(int.from_bytes(head[:4], "big"), len(head))
    brands = (head[8:12], *(head[start : start + 4] for start in range(16, size, 4)))
    return next(filter(None, map(_BRANDS.get, brands)), None)


def verified_mime(name: str, head: bytes) -> str | None:
    """Return the MIME type of a file if its name and its bytes agree on picture or sound; else None."""
    mime = sniff(head)
    return mime if mime is not None and modality_of_mime(mime) is modality_of(name) else None


def label(path: str) -> str:
    """Return the line that represents a file in the index, and accompanies it in a request.

    It has the file's kind and its name without folders, with a space for each unprintable character; it is empty for
    other files.
    """
    modality = modality_of(path)
    name = "".join(sign if sign.isprintable() else " " for sign in path.rpartition("/")[2])
    return f"{LABELS[modality]}: {name}" if modality else ""


def _mpeg_frame(head: bytes) -> str | None:
    """Return the MIME type of a bare MPEG audio layer III frame (ISO/IEC 11172-3, 2.4.1.3) or ADTS (13818-7, 6.2)."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return None
    if head[1] & 0xF6 == 0xF0:
        return "audio/aac"
    version, layer, bitrate, rate = head[1] >> 3 & 0b11, head[1] >> 1 & 0b11, head[2] >> 4, head[2] >> 2 & 0b11
    is_frame = version != 0b01 and layer == 0b01 and bitrate not in {0, 15} and rate != 0b11
    return "audio/mpeg" if is_frame else None
