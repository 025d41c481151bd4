"""Which warehouse is probably meant where a local folder has no databases."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from paimonlab.errors.base import similar

_MOST_LOOKED_AT = 1000
_DATABASE = ".db"


def near_folders(path: str) -> list[str]:
    """Find warehouses near a folder that has no databases: the path may be misspelt.

    Parameters
    ----------
    path
        An absolute path; what is not a path of this machine has none.

    Returns
    -------
    list[str]
        At most three folders: for a path that does not exist those of a similar name, else a
        folder with databases that it is in or that is in it.
    """
    folder = Path(path)
    if not path.startswith("/"):
        return []
    try:
        if not folder.exists():
            return _of_similar_names(folder)
        if folder.suffix == _DATABASE and folder.name != _DATABASE:
            return [str(folder.parent)]
        return [one for one in _folders(folder) if _has_databases(one)][:3]
    except OSError:
        return []


def _of_similar_names(folder: Path) -> list[str]:
    """Compare the first missing part of a path with its neighbours."""
    first = folder
    while not first.parent.exists():
        first = first.parent
    rest = folder.relative_to(first)
    names = {Path(one).name: one for one in _folders(first.parent)}
    close = similar(first.name, names, cutoff=0.6)
    return [one for one in (str(Path(names[name]) / rest) for name in close) if Path(one).is_dir()]


def _folders(parent: Path) -> list[str]:
    with os.scandir(parent) as entries:
        looked_at = itertools.islice(entries, _MOST_LOOKED_AT)
        return sorted(entry.path for entry in looked_at if entry.is_dir())


def _has_databases(folder: str) -> bool:
    with os.scandir(folder) as entries:
        return any(
            entry.name.endswith(_DATABASE) for entry in itertools.islice(entries, _MOST_LOOKED_AT)
        )
