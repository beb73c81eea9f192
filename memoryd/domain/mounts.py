"""Which file systems other machines write to, so that no event tells what they changed.

The table is Linux's `/proc/self/mountinfo`, see proc_pid_mountinfo(5).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_REMOTE = frozenset(
    (
        *("9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "drvfs", "glusterfs", "gpfs", "lustre", "ncpfs"),
        *("nfs", "nfs4", "orangefs", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs"),
    )
)
_LOCAL_FUSE = frozenset(("fuseblk", "fuse.bindfs", "fuse.gocryptfs", "fuse.encfs", "fuse.ecryptfs", "fuse.mergerfs"))
_ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """A file system at a place."""

    point: str
    kind: str

    @property
    def is_remote(self) -> bool:
        """Whether others than this machine may write to it; an unknown FUSE is taken for one."""
        return self.kind in _REMOTE or (self.kind.startswith("fuse") and self.kind not in _LOCAL_FUSE)


def parse_mounts(table: str) -> list[Mount]:
    """Return the mounts in their order; a later one hides those at the same place. What is no such line is left out."""
    found = (_mount(line.split(" ")) for line in table.splitlines())
    return [mount for mount in found if mount is not None]


def remote_mounts(mounts: Iterable[Mount], paths: Iterable[str]) -> list[Mount]:
    """Return the remote mounts that the paths (absolute, without symlinks) lie on, each once."""
    table = list(mounts)
    holding = (_mount_of(path, table) for path in paths)
    return list(dict.fromkeys(mount for mount in holding if mount is not None and mount.is_remote))


def _mount(fields: list[str]) -> Mount | None:
    """Read `36 35 98:0 /root /point options [optional …] - kind source options`."""
    if len(fields) < 10 or "-" not in fields[6:]:
        return None
    kind = fields[fields.index("-", 6) + 1]
    return Mount(_ESCAPE.sub(lambda code: chr(int(code[1], 8)), fields[4]), kind)


def _mount_of(path: str, mounts: Iterable[Mount]) -> Mount | None:
    """Return the innermost mount above a path, the latest where several stand at one place."""
    found: Mount | None = None
    for mount in mounts:
        is_above = path == mount.point or path.startswith(mount.point.rstrip("/") + "/")
        if is_above and (found is None or len(mount.point) >= len(found.point)):
            found = mount
    return found
