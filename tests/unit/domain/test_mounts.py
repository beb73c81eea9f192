import pytest

from memoryd.files.roots import Mount, parse_mounts, remote_mounts

TABLE = r"""
21 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
22 21 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw
31 21 0:27 / /home/ann/notes rw,relatime shared:150 - nfs4 nas.home:/export/notes rw,vers=4.2,addr=192.0.2.7
32 21 0:28 / /mnt/My\040Share rw,nosuid shared:151 master:4 - cifs //nas/share rw,vers=3.1.1,cache=strict
33 21 0:29 / /home/ann/remote rw,nosuid,nodev - fuse.sshfs ann@host:/notes rw,user_id=1000,group_id=1000
34 21 8:17 / /media/stick rw - fuseblk /dev/sdb1 rw,allow_other
35 21 0:30 / /home/ann/vault rw - fuse.gocryptfs /home/ann/.vault rw,user_id=1000
36 21 0:31 / /mnt/c rw,noatime - 9p C:\134 rw,dirsync,aname=drvfs;path=C:\;uid=1000
37 31 259:3 / /home/ann/notes/local rw,relatime shared:152 - ext4 /dev/nvme0n1p3 rw
38 21 0:40 / /srv/auto rw - autofs systemd-1 rw,fd=50,direct
39 38 0:41 / /srv/auto rw - nfs 192.0.2.9:/auto rw
40 21 0:42 / /var/lib/docker/overlay2/x/merged rw - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w
41 21 0:43 / /data rw - ceph 192.0.2.3:6789:/ rw,name=admin
42 41 0:44 / /data rw - ext4 /dev/sdc1 rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ann/notes", "nfs4"),
        ("/home/ann/notes/memory/a.md", "nfs4"),
        ("/mnt/My Share/memory", "cifs"),
        ("/home/ann/remote/deep/er", "fuse.sshfs"),
        ("/mnt/c/Users/ann", "9p"),
        ("/srv/auto/notes", "nfs"),
    ],
)
def test_remote_path_has_its_mount_and_kind(path: str, kind: str) -> None:
    (mount,) = remote_mounts(parse_mounts(TABLE), [path, path])
    assert mount.kind == kind
    assert path.startswith(mount.point)


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/home/ann/workspace", "/home/ann/notes-old", "/home/ann/notes/local/x", "/media/stick/notes"),
        *("/home/ann/vault/notes", "/var/lib/docker/overlay2/x/merged/notes", "/data/notes"),
    ],
)
def test_local_path_has_no_remote_mount(path: str) -> None:
    assert remote_mounts(parse_mounts(TABLE), [path]) == []


def test_invalid_lines_of_mount_table_are_skipped() -> None:
    assert parse_mounts("") == []
    assert parse_mounts("nonsense\n36 35 98:0 / /x rw\n") == []
    assert parse_mounts("21 1 259:2 / / rw - ext4 /dev/x rw\n") == [Mount("/", "ext4")]
