"""Small pictures and sounds, real to the byte as far as their headers go, that carry what there is to see or hear.

A test endpoint that "looks" at one finds these words in it; no name has to say them.
"""

import io
import re
import struct
import wave
import zlib

_SEEN = re.compile(rb"seen: ([^;]*);")


def _marked(words: str) -> bytes:
    return f"seen: {words};".encode()


def seen_in(data: bytes) -> str:
    """Return what there is to see or hear in a file."""
    found = _SEEN.search(data)
    return found[1].decode() if found else ""


def png(words: str, *, filling: int = 0) -> bytes:
    """Return a picture of one black dot with a comment, and so many bytes more."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    parts = [(b"IHDR", header), (b"tEXt", b"Comment\0" + _marked(words)), (b"IDAT", zlib.compress(b"\0\0"))]
    parts += [(b"prVt", bytes(filling))] if filling else []
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(*part) for part in [*parts, (b"IEND", b"")])


def _png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def jpeg(words: str) -> bytes:
    """Return a JFIF header with a comment."""
    comment = _marked(words)
    start = b"\xff\xd8\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
    return start + b"\xff\xfe" + struct.pack(">H", len(comment) + 2) + comment + b"\xff\xd9"


def wav(words: str) -> bytes:
    """Return a moment of silence with a comment behind it."""
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(400))
    comment = _marked(words).ljust((len(_marked(words)) + 1) // 2 * 2, b"\0")
    return out.getvalue() + b"LIST" + struct.pack("<I", len(comment)) + comment


def mp3(words: str) -> bytes:
    """Return an ID3 tag and one frame of layer III."""
    body = b"\0" + _marked(words)
    tag = b"COMM" + struct.pack(">I", len(body)) + b"\0\0" + body
    length = len(tag)
    size = bytes([length >> 21 & 127, length >> 14 & 127, length >> 7 & 127, length & 127])
    return b"ID3\x03\0\0" + size + tag + b"\xff\xfb\x90\x64" + bytes(413)
