"""Whole files through a descriptor: all that is written arrives, or it is an error."""

from __future__ import annotations

import errno
import os
import stat

from paimonlab.errors import CorruptMetadataError


def write_all(descriptor: int, data: bytes | memoryview, path: str) -> None:
    """Write all bytes: the system may take fewer at once, and does when the disk gets full."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def check_size(descriptor: int, size_bytes: int, path: str) -> None:
    """Refuse a file of another size than what was written to it."""
    size = os.fstat(descriptor).st_size
    if size != size_bytes:
        problem = f"{size_bytes:,} bytes were written and {size:,} are there"
        raise OSError(errno.EIO, problem, path)


def size_of_file(descriptor: int, path: str) -> int:
    """Return the size of an ordinary file.

    Raises
    ------
    CorruptMetadataError
        If it is something else.
    """
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise CorruptMetadataError(path, f"it is {kind(status.st_mode)}, not a file")
    return status.st_size


def kind(mode: int) -> str:
    """Name the kind of something that is not an ordinary file."""
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a pipe" if stat.S_ISFIFO(mode) else "a device or a socket"


def read_all(descriptor: int, size_bytes: int) -> bytes:
    """Read as many bytes as a file says it has; files that are read do not grow."""
    data = os.read(descriptor, size_bytes)
    if len(data) == size_bytes:
        return data
    pieces = [data]  # the system hands out two gigabytes at most, and others may cut files
    missing = size_bytes - len(data)
    while missing and (data := os.read(descriptor, missing)):
        pieces.append(data)
        missing -= len(data)
    return b"".join(pieces)
