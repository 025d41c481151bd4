"""Let a data file of any format say what it says of itself."""

from __future__ import annotations

from paimonlab.errors import CorruptDataError, UnsupportedError
from paimonlab.formats import avro, orc, parquet  # few tables have more than one
from paimonlab.formats.data_format import READABLE, format_of
from paimonlab.formats.description import FileDescription
from paimonlab.storage import FileIO


def describe(file_io: FileIO, path: str, *, size_bytes: int | None = None) -> FileDescription:
    """Read what a data file says of itself, and compute the checksums of its pages.

    Parameters
    ----------
    file_io, path
        The file.
    size_bytes
        What metadata says; None: not known.

    Raises
    ------
    CorruptDataError
        If the file is missing or damaged.
    UnsupportedError
        If the format is not implemented.
    """
    try:
        return _describe(file_io, path, size_bytes)
    except FileNotFoundError as error:
        raise CorruptDataError(path, "the file is missing") from error


def _describe(file_io: FileIO, path: str, size_bytes: int | None) -> FileDescription:
    match format_of(path):
        case "parquet":
            return parquet.describe_parquet(file_io, path, size_bytes)
        case "orc":
            return orc.describe_orc(file_io, path)
        case "avro":
            return avro.describe_avro(file_io, path)
        case other:
            raise UnsupportedError(
                f"file.format = '{other}'",
                f"{path} has this format; only {', '.join(READABLE)} can be read",
            )
