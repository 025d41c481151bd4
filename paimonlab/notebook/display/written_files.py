"""Files that a user asks for: written anywhere, but never over a file of another kind.

A file appears whole or not at all, and replaces only what looks like one that was written here.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from paimonlab.errors import UnsupportedError
from paimonlab.spec.visible_text import visible

LOOKED_AT_BYTES = 4_096
"""Bytes that are read of a file that would be replaced."""
IsOurs = Callable[[bytes], bool]
"""Decides by the start of a file whether it is of the kind that would replace it."""


def check_target(target: Path, is_ours: IsOurs) -> None:
    """Check that a file can be written, before the work for it begins.

    A link is replaced, not the file that it points to; that file decides whether it may be.

    Raises
    ------
    UnsupportedError
        If a folder, a pipe, a device or a file of another kind exists there.
    """
    shown = visible(str(target))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise UnsupportedError(f"writing {shown}", str(error.strerror)) from error
    if not stat.S_ISREG(mode):
        raise UnsupportedError(f"writing {shown}", "it exists, and is not a file")
    try:
        with target.open("rb") as file:
            begin = file.read(LOOKED_AT_BYTES)
    except OSError as error:
        raise UnsupportedError(f"replacing {shown}", str(error.strerror)) from error
    if begin and not is_ours(begin):
        raise UnsupportedError(
            f"replacing {shown}",
            "it does not look like what would replace it; delete it first, or give another name",
        )


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a new file to write to, which becomes ``target`` in the end if all went well.

    Raises
    ------
    UnsupportedError
        If no file can be created there.
    """
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        # There can be no link: the name is new, and O_EXCL creates the file.
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError as error:
        raise UnsupportedError(f"writing {visible(str(target))}", str(error.strerror)) from error
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def save_page(target: Path, page: str) -> Path:
    """Write a page of HTML, replacing an existing one.

    Raises
    ------
    UnsupportedError
        If something else exists there.
    """
    check_target(target, _is_page)
    with replacing(target) as part:
        part.write_text(page, encoding="utf-8")
    return target


def _is_page(begin: bytes) -> bool:
    return begin.startswith(b'<!doctype html>\n<html lang="en">')
