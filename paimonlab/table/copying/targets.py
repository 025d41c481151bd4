"""Folders that rows are written to: where none may be, and what is answered."""

from __future__ import annotations

from pathlib import PurePosixPath

from paimonlab.errors import UnsupportedError
from paimonlab.storage.schemes import store_kind

ANSWER = ("output_path", "file_count", "rows_written")
"""What the columns of the answer are called."""


def check_target(target: str, warehouse: str, text: str) -> None:
    """Refuse folders of a warehouse: OVERWRITE would delete tables, and others their files.

    Parameters
    ----------
    target
        The folder, absolute.
    warehouse
        That of a catalog.
    text
        The statement, for the message.

    Raises
    ------
    UnsupportedError
        If the target is in the warehouse, or has it inside.
    """
    place, kept = PurePosixPath(_without_scheme(target)), PurePosixPath(_without_scheme(warehouse))
    if place.is_relative_to(kept) or kept.is_relative_to(place):
        raise UnsupportedError(
            text, f"it is in, or around, the warehouse {kept}; choose another folder"
        )


def _without_scheme(path: str) -> str:
    scheme, separator, rest = path.partition(":")
    kind = store_kind(path)
    if kind is not None:
        return f"{kind.name}:{rest}"  # s3a: is where s3: is
    return rest if separator and scheme == "file" else path
