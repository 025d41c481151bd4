"""Folders and files of the local disk, spelled as Hadoop does."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.functions import patterns
from paimonlab.sql_engine.functions.signatures import WrongUseError
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value
from paimonlab.table.copying.loading import SourceFile, is_hidden, no_source

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


def local_place(path: str) -> Path:
    """Return where a path of a statement is.

    Raises
    ------
    NotTranslatedError
        If it is not on the local disk.
    """
    scheme = _SCHEME.match(path)
    if scheme is not None:
        rest = path[scheme.end() :]
        if scheme[1].lower() != "file" or not re.match(r"/(?!/)|///(?!/)", rest):
            raise NotTranslatedError(f"COPY INTO of {path!r}, not a path of the local disk,", path)
        path = "/" + rest.lstrip("/")
    return Path(os.path.normpath(Path.cwd() / path))


def listed(folder: str, pattern: str | None) -> Sequence[SourceFile]:
    """Return the files of a folder, or a file, ordered by name; as `LoadEngine.list`.

    Raises
    ------
    DataError
        If there is no such folder or file.
    NotTranslatedError
        If the pattern may mean something else in Java.
    """
    place = local_place(folder)
    wanted = re.compile(_proven(pattern)) if pattern else None
    if place.is_dir():
        found = list(place.iterdir())
    elif place.exists():
        found = [place]
    else:
        raise no_source(folder)
    files = []
    for path in found:
        name = path.name
        if is_hidden(name) or (wanted is not None and wanted.search(name) is None):
            continue
        if path.is_file():
            state = path.stat()
            millis = state.st_mtime_ns // 1_000_000
            files.append(SourceFile(f"file:{path}", state.st_size, millis))
    return sorted(files)


def path_of(file: SourceFile) -> str:
    """Return the path of a file that was listed."""
    return file.path.removeprefix("file:")


def _proven(pattern: str) -> str:
    try:
        return patterns.checked(Value("", kinds.STRING, pattern, pattern))
    except WrongUseError:
        raise NotTranslatedError(f"PATTERN = {pattern!r}", "PATTERN") from None
