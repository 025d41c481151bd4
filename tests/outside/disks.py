"""Small file systems of a test's own: mounted where it is root, skipped with a reason where not."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from tests.debian import is_installed

Kind = Literal["tmpfs", "ext4", "quota"]
KINDS: tuple[Kind, ...] = ("tmpfs", "ext4", "quota")
"""``quota``: a part of a large btrfs that may hold no more; what is over it fails with EDQUOT."""
_FILLER = "filler"
_QUOTA_DISK = "200M"
_LARGE_QUOTA_BYTES = 64 << 20
_PART = "0/256"
"""What btrfs calls its first subvolume."""


@dataclass(frozen=True, slots=True)
class Disk:
    """A mounted file system."""

    kind: Kind
    mount_point: Path
    path: Path
    """The folder that is small."""

    def unmount(self) -> None:
        """Let go of it; what is in it is lost."""
        _run("umount", "--lazy", str(self.mount_point))  # btrfs may still be at work

    @property
    def warehouse(self) -> Path:
        """Where a warehouse goes."""
        return self.path / "warehouse"

    @contextmanager
    def filled_up(self, room_bytes: int) -> Iterator[None]:
        """Leave only so many bytes, of whole blocks, for a while."""
        if self.kind == "quota":
            self._limit(self._used_bytes() + room_bytes)
            try:
                yield
            finally:
                self._limit(_LARGE_QUOTA_BYTES)
            return
        filler = self.path / _FILLER
        with filler.open("wb", buffering=0) as file:
            while _write_until_full(file.fileno()):
                os.fsync(file.fileno())  # which may free what was set aside
            os.ftruncate(file.fileno(), max(0, os.fstat(file.fileno()).st_size - room_bytes))
            os.fsync(file.fileno())
        try:
            yield
        finally:
            filler.unlink()

    def _limit(self, size_bytes: int) -> None:
        _run("btrfs", "qgroup", "limit", str(size_bytes), _PART, str(self.mount_point))

    def _used_bytes(self) -> int:
        os.sync()
        shown = _run("btrfs", "qgroup", "show", "--raw", "-f", str(self.path))
        return int(shown.splitlines()[-1].split()[1])

    def allow_writing(self, *, writing: bool) -> None:
        """Mount it anew to be read only, or to be written."""
        _run("mount", "-o", f"remount,{'rw' if writing else 'ro'}", str(self.mount_point))


def mounted(kind: Kind, folder: Path, size: str) -> Disk:
    """Mount a new file system.

    Parameters
    ----------
    kind
        Which.
    folder
        Empty; holds the mount point and the image.
    size
        As ``mount`` and ``truncate`` write it: ``512K``, ``8M``.
    """
    if os.geteuid() != 0:
        pytest.skip("only root may mount a file system")
    point = folder / "disk"
    point.mkdir()
    _MOUNTS[kind](folder / "image", point, size)
    return Disk(kind, point, point / "part" if kind == "quota" else point)


def _mount_tmpfs(_image: Path, point: Path, size: str) -> None:
    _mount("tmpfs", "-o", f"size={size}", "tmpfs", str(point))


def _mount_ext4(image: Path, point: Path, size: str) -> None:
    _format(image, size, ["mkfs.ext4", "-q", "-m", "0"], package="e2fsprogs")
    _mount("ext4", "-o", "loop", str(image), str(point))


def _mount_quota(image: Path, point: Path, _size: str) -> None:
    _format(image, _QUOTA_DISK, ["mkfs.btrfs", "-q"], package="btrfs-progs")
    _mount("btrfs", "-o", "loop", str(image), str(point))
    _run("btrfs", "quota", "enable", str(point))
    _run("btrfs", "subvolume", "create", str(point / "part"))


_MOUNTS = {"tmpfs": _mount_tmpfs, "ext4": _mount_ext4, "quota": _mount_quota}


def _format(image: Path, size: str, command: Sequence[str], *, package: str) -> None:
    if shutil.which(command[0]) is None and not is_installed(package):
        pytest.skip(f"{command[0]} is not installed")
    _run("truncate", "-s", size, str(image))
    _run(*command, str(image))


def _mount(kind: str, *arguments: str) -> None:
    try:
        _run("mount", "-t", kind, *arguments)
    except (subprocess.CalledProcessError, FileNotFoundError) as error:
        said = getattr(error, "stderr", None) or error
        pytest.skip(f"this machine does not mount {kind}: {said}".strip())


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _write_until_full(descriptor: int) -> int:
    """Write until there is no room; return how many bytes that were."""
    written = 0
    for size in (256 << 10, 16 << 10, 1 << 10):
        zeros = bytes(size)
        try:
            while count := os.write(descriptor, zeros):
                written += count
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
    return written
