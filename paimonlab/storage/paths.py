"""Joining paths, also with names read from a file.

Metadata may come from strangers: a name in it must never lead out of the table's folder.
"""

from __future__ import annotations

import re

from paimonlab.errors import CorruptMetadataError

_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]")
_NAME = r"[A-Za-z0-9_-][A-Za-z0-9_.=-]*"
_PLAIN = re.compile(_NAME)
"""Most names, told with a look."""
_PLAIN_PATH = re.compile(f"{_NAME}(?:/{_NAME})*")
"""Most relative paths, too."""


def join(root: str, *names: str) -> str:
    """Join names of our own making to a folder."""
    if len(names) == 1 and names[0]:
        return f"{root.rstrip('/')}/{names[0].strip('/')}"
    return "/".join((root.rstrip("/"), *(name.strip("/") for name in names if name)))


def parent_of(path: str) -> str:
    """Return the folder that an absolute path is in: ``os.path.dirname`` takes six times as long.

    Examples
    --------
    >>> parent_of("/w/db.db/t"), parent_of("/w")
    ('/w/db.db', '/')
    """
    return path.rpartition("/")[0] or "/"


def safe_join(root: str, *names: str, referrer: str = "") -> str:
    """Join names that were read from metadata to a folder, never leaving it.

    Parameters
    ----------
    root
        The folder that the result stays under.
    *names
        Names or relative paths with ``/``.
    referrer
        The file the names come from, for the message.

    Raises
    ------
    CorruptMetadataError
        If a name is empty, absolute, has a ``.`` or ``..`` part, a backslash or a control
        character.

    Examples
    --------
    >>> safe_join("/w/db.db/t", "dt=2026-01-01/bucket-0", "data-1.parquet")
    '/w/db.db/t/dt=2026-01-01/bucket-0/data-1.parquet'
    """
    path = "/".join(names)
    if _PLAIN_PATH.fullmatch(path) is not None:
        return f"{root.rstrip('/')}/{path}"
    for name in names:
        if not _is_safe(name):
            raise CorruptMetadataError(
                referrer or root, f"the name {name!r} leads out of the table's folder {root}"
            )
    return join(root, *names)


def is_plain(name: str) -> bool:
    """Say whether a name of letters, digits, ``_``, ``-``, ``.`` and ``=`` stays in its folder.

    Examples
    --------
    >>> is_plain("data-1.parquet"), is_plain(".."), is_plain("a/b")
    (True, False, False)
    """
    return _PLAIN.fullmatch(name) is not None


def _is_safe(name: str) -> bool:
    if is_plain(name):
        return True
    if not name or name.startswith("/") or _UNSAFE.search(name):
        return False
    return all(part not in {"", ".", ".."} for part in name.rstrip("/").split("/"))
