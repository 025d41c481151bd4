"""Creating a file as a whole, or not at all."""

from __future__ import annotations

import contextlib

from paimonlab.storage.file_io import FileIO


def create_file(file_io: FileIO, path: str, data: bytes) -> None:
    """Create a file under a unique name; it is durable after `FileIO.sync_files`.

    After an error no new file is left; a file that existed before stays.

    Raises
    ------
    FileExistsError
        If a file of that name exists.
    """
    try:
        file_io.create(path, data)
    except FileExistsError:
        raise
    except BaseException:
        with contextlib.suppress(OSError):
            file_io.delete(path)
        raise
