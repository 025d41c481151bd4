"""The hint files ``LATEST`` and ``EARLIEST``: an id that may be out of date.

Source: apache/paimon@1.3.1 ``org.apache.paimon.utils.HintFileUtils``.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from paimonlab.storage import FileIO

logger = logging.getLogger(__name__)


def read_hint(file_io: FileIO, path: str) -> int | None:
    """Return the id in a hint file; None when it is missing, empty or not a number."""
    try:
        text = file_io.read(path).strip()
    except FileNotFoundError:
        return None
    return int(text) if text.isdigit() and len(text) < 19 else None


def write_hint(file_io: FileIO, path: str, snapshot_id: int) -> None:
    """Replace a hint; a failure is only logged, as readers can do without."""
    try:
        file_io.replace(path, str(snapshot_id).encode(), durable=False)
    except OSError as error:
        logger.warning("%s: hint not written, readers will list the folder: %s", path, error)


def lower_hint(file_io: FileIO, path: str, snapshot_id: int) -> None:
    """Replace a hint before the snapshot that it names is deleted.

    Raises
    ------
    OSError
        If that fails: a hint that names a deleted snapshot marks a damaged table.
    """
    file_io.replace(path, str(snapshot_id).encode())


def numbered(names: Sequence[str], prefix: str) -> list[int]:
    """Return the ascending ids of the files called ``<prefix><id>``."""
    numbers = [name[len(prefix) :] for name in names if name.startswith(prefix)]
    return sorted([int(number) for number in numbers if number.isdecimal() and number.isascii()])
