"""The bytes of an indexed picture or sound, read again when they are to be embedded, and checked again."""

import asyncio
from concurrent.futures import Executor

from memoryd.domain.media import HEAD_BYTES, checked
from memoryd.embed.protocol import Attachment
from memoryd.files.reading import NotReadableError, TornReadError, read_octets
from memoryd.files.roots import base_of
from memoryd.files.scanner import CurrentRules
from memoryd.store.index.passages import PendingFile


class AttachmentReader:
    """Gives the lane the bytes of files that the rules of this moment let through; `look` says where and which."""

    def __init__(self, *, executor: Executor, look: CurrentRules) -> None:
        self._executor = executor
        self._look = look

    async def attach(self, file: PendingFile) -> Attachment:
        """Read one file; raises NotReadableError if it is gone, changed, left out by now, or cannot be read."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._read, file)

    def _read(self, file: PendingFile) -> Attachment:
        roots, rules = self._look()
        if rules.media is None or not rules.media.admits(file.path) or rules.hold or rules.is_ignored(file.path):
            raise NotReadableError("it is left out now")
        base, relative = base_of(file.path, rules.workspace, roots)
        limit, _ = rules.limit(file.path)
        try:
            octets = read_octets(base, relative, max_bytes=limit, follow_symlinks=rules.follow_symlinks)
        except TornReadError as exc:
            raise NotReadableError("it is being written") from exc
        except OSError as exc:
            raise NotReadableError(f"it cannot be read: {exc.strerror}") from exc
        media = checked(file.path, octets.data[:HEAD_BYTES])
        if octets.sha256 != file.sha256 or media is None:
            raise NotReadableError("it has changed since it was indexed")
        return Attachment(media.mime, octets.sha256, octets.data)
