"""Parquet files that are missing or damaged: errors that name them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from paimonlab.errors import CorruptDataError, MemoryLimitError, StorageError
from paimonlab.formats.parquet.thrift_compact import DamagedThriftError
from paimonlab.storage import FileIO


def open_existing(file_io: FileIO, path: str, size_bytes: int | None) -> pa.NativeFile:
    """Open a file; its size by its metadata, if that says so.

    Raises
    ------
    CorruptDataError
        If it is missing.
    """
    try:
        return file_io.open_input(path, size_bytes=size_bytes)
    except FileNotFoundError as error:
        raise CorruptDataError(path, "the file is missing") from error


@contextmanager
def damage_named(path: str) -> Iterator[None]:
    """Turn what pyarrow says of a damaged file into an error that names the file."""
    try:
        yield
    except MemoryError as error:
        raise MemoryLimitError(path, str(error)) from error
    except StorageError:
        raise  # it says what failed; the file may be sound
    except FileNotFoundError as error:
        raise CorruptDataError(path, "the file is missing") from error
    except (pa.ArrowException, OSError, UnicodeDecodeError, DamagedThriftError) as error:
        raise CorruptDataError(path, f"cannot be read as Parquet: {error}") from error
