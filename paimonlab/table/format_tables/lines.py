"""Lines of files of text: decompressed, and cut where they end.

Source: apache/paimon@1.4.2 ``org.apache.paimon.format.text.StandardLineReader``,
``CustomLineReader``, ``HadoopCompressionUtils``.
"""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa

from paimonlab.errors import CorruptDataError, UnsupportedError
from paimonlab.storage import FileIO

_CHUNK_BYTES = 8 << 20
_BOM = b"\xef\xbb\xbf"
_USUAL = ("\n", "\r\n", "\r")
"""Where lines end with one of these they end with any of them."""
_ARROW_CODECS = {"gz": "gzip", "bz2": "bz2", "zst": "zstd"}
_NOT_READ = ("snappy", "lz4", "lzo")


def is_usual(delimiter: str) -> bool:
    """Whether lines end as lines of texts do."""
    return delimiter in _USUAL


def blocks(file_io: FileIO, path: str, delimiter: str) -> Iterator[bytes | list[bytes]]:
    r"""Read the lines of a file, many at once.

    Parameters
    ----------
    file_io, path
        The file; what its name ends with says how it is compressed.
    delimiter
        What lines end with.

    Yields
    ------
    bytes or list of bytes
        Lines that end with ``\n``; where they end otherwise a list of them, without what they end
        with.

    Raises
    ------
    CorruptDataError
        If the file is damaged.
    UnsupportedError
        If it is compressed by something else.
    """
    usual = is_usual(delimiter)
    sign = b"\n" if usual else delimiter.encode()
    rest, is_first = b"", True
    for chunk in _chunks(file_io, path):
        data = rest + chunk
        if is_first:
            data, is_first = data.removeprefix(_BOM), False
        if usual:
            cut = data.rfind(b"\n") + 1 or data.rfind(b"\r", 0, len(data) - 1) + 1
            whole, rest = data[:cut], data[cut:]
            if whole:
                yield _usual(whole)
        else:
            *lines, rest = data.split(sign)
            if lines:
                yield lines
    if rest:
        yield _usual(rest) if usual else [rest]


def _usual(data: bytes) -> bytes:
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data if data.endswith(b"\n") else data + b"\n"


def _chunks(file_io: FileIO, path: str) -> Iterator[bytes]:
    ending = path.rpartition("/")[2].rpartition(".")[2].lower()
    if ending in _NOT_READ:
        raise UnsupportedError(f"the file {path}", f"compressed by {ending}, in blocks of Hadoop's")
    try:
        with file_io.open_input(path) as source:
            if ending == "deflate":
                yield from _inflated(source)
                return
            codec = _ARROW_CODECS.get(ending)
            stream = source if codec is None else pa.CompressedInputStream(source, codec)
            while chunk := stream.read(_CHUNK_BYTES):
                yield chunk
    except (pa.ArrowException, zlib.error) as error:
        raise CorruptDataError(path, str(error)) from error
    except OSError as error:
        if not isinstance(error, FileNotFoundError) and ending in _ARROW_CODECS:
            raise CorruptDataError(path, str(error)) from error
        raise


def _inflated(source: pa.NativeFile) -> Iterator[bytes]:
    inflater = zlib.decompressobj()
    while chunk := source.read(_CHUNK_BYTES):
        yield inflater.decompress(chunk)
    yield inflater.flush()
    if not inflater.eof:
        raise zlib.error("it ends in the middle")


def _gzipped(data: bytes) -> bytes:
    return gzip.compress(data, 6, mtime=0)


def _zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


_MEMBERS: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": _gzipped,
    "bzip2": bz2.compress,
    "zstd": _zstd,
}
"""Compressions whose files may be put together of several compressed ones."""


class LineOutput:
    """A file of text that is being written.

    Parameters
    ----------
    file_io, path
        Where; the file must not exist.
    compression
        One of `TEXT_CODECS`.
    """

    def __init__(self, file_io: FileIO, path: str, compression: str) -> None:
        self._target = file_io.open_output(path)
        self._member = _MEMBERS.get(compression)
        self._deflating = zlib.compressobj() if compression == "deflate" else None
        self.bytes_written = 0

    def write(self, data: bytes) -> None:
        """Append lines."""
        if self._member is not None:
            data = self._member(data)
        elif self._deflating is not None:
            data = self._deflating.compress(data)
        self._append(data)

    def close(self) -> int:
        """Finish the file; returns its size in bytes."""
        if self._deflating is not None:
            self._append(self._deflating.flush())
        self._target.close()
        return self.bytes_written

    def abort(self) -> None:
        """Stop writing; the caller deletes what was written."""
        self._target.close()

    def _append(self, data: bytes) -> None:
        self._target.write(data)
        self.bytes_written += len(data)
