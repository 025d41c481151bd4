"""Where a user wants a file: anywhere, but never over what is no file of that kind.

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
"""Of a file that would be replaced."""
IsOurs = Callable[[bytes], bool]
"""Tells by the begin of a file whether it is of the kind that would replace it."""


def check_target(target: Path, is_ours: IsOurs) -> None:
    """Check that a file can be written, before the work for it begins.

    A link is replaced, and what it points to stays; so it is looked at by what it points to.

    Raises
    ------
    UnsupportedError
        If there is a folder, a pipe or a device, or a file of another kind.
    """
    shown = visible(str(target))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise UnsupportedError(f"writing {shown}", str(error.strerror)) from error
    if not stat.S_ISREG(mode):
        raise UnsupportedError(f"writing {shown}", "it is there, and is no file")
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
    """Give a new file to write to, which takes its name in the end if all went well.

    Raises
    ------
    UnsupportedError
        If no file can be made there.
    """
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        # Nobody can have put a link there: the name is new, and a file of it is made.
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError as error:
        raise UnsupportedError(f"writing {visible(str(target))}", str(error.strerror)) from error
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def save_page(target: Path, page: str) -> Path:
    """Write a page of HTML, over one that is there.

    Raises
    ------
    UnsupportedError
        If something else is there.
    """
    check_target(target, _is_page)
    with replacing(target) as part:
        part.write_text(page, encoding="utf-8")
    return target


def _is_page(begin: bytes) -> bool:
    return begin.startswith(b'<!doctype html>\n<html lang="en">')
