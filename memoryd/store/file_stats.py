"""What a scan compares of a file, in the numbers that SQLite can hold: signed ones of 64 bits."""

from memoryd.domain.documents import FileStat

_MAX_INTEGER = 2**63 - 1


def stored_stat(stat: FileStat) -> tuple[int, int, int, int, int]:
    """Return device, inode, size, mtime and ctime as they are stored; a time beyond the year 2262 is the last one."""
    device, inode = (number - 2**64 if number > _MAX_INTEGER else number for number in (stat.device, stat.inode))
    mtime_ns, ctime_ns = (min(max(at, -_MAX_INTEGER), _MAX_INTEGER) for at in (stat.mtime_ns, stat.ctime_ns))
    return device, inode, stat.size, mtime_ns, ctime_ns


def file_stat_of(device: int, inode: int, size: int, mtime_ns: int, ctime_ns: int) -> FileStat:
    """Return the stat that was stored."""
    return FileStat(device % 2**64, inode % 2**64, size, mtime_ns, ctime_ns)
