"""What an ORC file says of itself at its end: stripes, types, statistics.

The library that decodes stripes trusts the end of a file, and a damaged one can crash the
process. So it is read here first and checked against the size of the file. What cannot be
checked: the streams in a stripe, for ORC has no checksums, and all but the outermost lengths of
files compressed with LZO.

Source: https://orc.apache.org/specification/ORCv1/
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
import zstandard

from paimonlab.errors import CorruptDataError, UnsupportedError
from paimonlab.formats.orc.protobuf import Message, parse

MAGIC = b"ORC"
_GUESS_BYTES = 16 << 10
"""How much of the end of a file is read at first."""
_MAX_TAIL_BYTES = 256 << 20
NONE, ZLIB, SNAPPY, LZO, LZ4, ZSTD = range(6)
CODECS = {NONE: "none", ZLIB: "zlib", SNAPPY: "snappy", LZO: "lzo", LZ4: "lz4", ZSTD: "zstd"}

Statistics: TypeAlias = Message


@dataclass(frozen=True, slots=True)
class Stripe:
    """Where a stripe is in its file."""

    first_row: int
    row_count: int
    offset: int
    index_bytes: int
    data_bytes: int
    footer_bytes: int

    @property
    def size_bytes(self) -> int:
        """As it is stored."""
        return self.index_bytes + self.data_bytes + self.footer_bytes


@dataclass(frozen=True, slots=True)
class OrcType:
    """A node of the tree of types, which files number depth first."""

    kind: int
    children: tuple[int, ...]
    """Numbers of the nodes below."""
    names: tuple[str, ...]
    """Of the fields of a struct."""
    precision: int
    scale: int


BOOLEAN, BYTE, SHORT, INT, LONG, FLOAT, DOUBLE, STRING, BINARY, TIMESTAMP = range(10)
LIST, MAP, STRUCT, UNION, DECIMAL, DATE, VARCHAR, CHAR, TIMESTAMP_INSTANT = range(10, 19)


@dataclass(frozen=True, slots=True)
class OrcTail:
    """The end of a file, taken apart."""

    codec: int
    row_count: int
    stripes: tuple[Stripe, ...]
    types: tuple[OrcType, ...]
    """By number; the first is the struct of all columns. () in files compressed with LZO."""
    stripe_statistics: tuple[tuple[Statistics, ...], ...]
    """By stripe and number of type; () if the file has none."""
    block_bytes: int
    """What a compressed chunk decompresses to at most."""

    @property
    def columns(self) -> dict[str, int]:
        """Numbers of the types of the columns by name."""
        root = self.types[0]
        return dict(zip(root.names, root.children, strict=True))


class Source:
    """A file that can be read in pieces."""

    def __init__(self, file: pa.NativeFile, path: str) -> None:
        self._file = file
        self.path = path
        self.size_bytes: int = file.size()

    def read(self, offset: int, count: int) -> bytes:
        """Return exactly these bytes."""
        if offset < 0 or count < 0 or offset + count > self.size_bytes:
            raise self.damaged(f"{count} bytes at {offset} lie outside of the file")
        data: bytes = self._file.read_at(count, offset)
        if len(data) != count:
            raise self.damaged("it is cut")
        return data

    def damaged(self, problem: str) -> CorruptDataError:
        """Say what is wrong with the file."""
        return CorruptDataError(self.path, f"cannot be read as ORC: {problem}")


def read_tail(source: Source) -> OrcTail:
    """Read and check the end of a file.

    Raises
    ------
    CorruptDataError
        If it is cut, damaged, or contradicts itself.
    UnsupportedError
        If the file is encrypted or compressed with a codec that is not known.
    """
    size = source.size_bytes
    end = source.read(max(0, size - _GUESS_BYTES), min(size, _GUESS_BYTES))
    length = end[-1] if end else 0
    if source.read(0, 3) != MAGIC or length == 0 or length + 1 > len(end):
        raise source.damaged("it does not begin or end like one")
    try:
        post = parse(end[-1 - length : -1])
        if post.single(8000) != MAGIC:
            raise source.damaged("it does not end with a postscript")
        return _read(source, post, length + 1)
    except ValueError as error:
        raise source.damaged(str(error)) from error


def _read(source: Source, post: Message, post_bytes: int) -> OrcTail:
    codec, block = post.number(2), post.number(3, 256 << 10)
    if codec not in CODECS:
        raise UnsupportedError(f"ORC compression number {codec}", f"{source.path} has it")
    if codec != NONE and not 0 < block <= 1 << 23:
        raise source.damaged(f"compressed chunks of {block} bytes")
    footer_bytes, metadata_bytes = post.number(1), post.number(5)
    tail_bytes = footer_bytes + metadata_bytes + post_bytes
    if tail_bytes > min(source.size_bytes - len(MAGIC), _MAX_TAIL_BYTES):
        raise source.damaged(f"its end is said to have {tail_bytes} bytes")
    footer_start = source.size_bytes - post_bytes - footer_bytes
    stored_footer = source.read(footer_start, footer_bytes)
    if codec == LZO:
        return OrcTail(codec, -1, (), (), (), block)
    footer = parse(unpacked(stored_footer, codec, block))
    if footer.messages(10):
        raise UnsupportedError("encrypted columns in ORC", f"{source.path} has them")
    content_end = footer_start - metadata_bytes
    stripes = _stripes(source, footer, content_end)
    types = _types(source, footer)
    metadata = parse(unpacked(source.read(content_end, metadata_bytes), codec, block))
    statistics = tuple(tuple(message.messages(1)) for message in metadata.messages(1))
    if len(statistics) != len(stripes) or any(len(one) != len(types) for one in statistics):
        statistics = ()
    return OrcTail(codec, footer.number(6), stripes, types, statistics, block)


def _stripes(source: Source, footer: Message, content_end: int) -> tuple[Stripe, ...]:
    stripes: list[Stripe] = []
    first_row, position = 0, len(MAGIC)
    for message in footer.messages(3):
        stripe = Stripe(first_row, message.number(5), *(message.number(n) for n in (1, 2, 3, 4)))
        if stripe.offset < position or stripe.offset + stripe.size_bytes > content_end:
            raise source.damaged(f"stripe {len(stripes)} lies where it cannot")
        position = stripe.offset + stripe.size_bytes
        first_row += stripe.row_count
        stripes.append(stripe)
    if first_row != footer.number(6):
        problem = f"its stripes have {first_row} rows, its footer says {footer.number(6)}"
        raise source.damaged(problem)
    return tuple(stripes)


def _types(source: Source, footer: Message) -> tuple[OrcType, ...]:
    types = [
        OrcType(
            orc_type.number(1),
            tuple(orc_type.numbers(2)),
            tuple(name.decode() for name in orc_type.repeated(3)),
            orc_type.number(5),
            orc_type.number(6),
        )
        for orc_type in footer.messages(4)
    ]
    if not types or types[0].kind != STRUCT:
        raise source.damaged("its rows are not a struct")
    seen = [False] * len(types)
    for number, orc_type in enumerate(types):
        expected = {LIST: 1, MAP: 2, STRUCT: len(orc_type.names)}.get(
            orc_type.kind, len(orc_type.children)
        )
        if len(orc_type.children) != expected or orc_type.kind > TIMESTAMP_INSTANT:
            raise source.damaged(f"type {number} does not exist")
        if orc_type.kind not in (LIST, MAP, STRUCT, UNION) and orc_type.children:
            raise source.damaged(f"type {number} has others below it")
        if orc_type.kind == DECIMAL and not 0 <= orc_type.scale <= orc_type.precision <= 38:
            raise source.damaged(
                f"type {number} is DECIMAL({orc_type.precision}, {orc_type.scale})"
            )
        for child in orc_type.children:
            if not number < child < len(types) or seen[child]:
                raise source.damaged(f"type {number} has the type {child} below it")
            seen[child] = True
    if not all(seen[1:]):
        raise source.damaged("a type belongs to no column")
    return tuple(types)


def check_stripe(source: Source, tail: OrcTail, index: int) -> None:
    """Check what a stripe says of itself at its end; what its streams hold stays unchecked.

    Raises
    ------
    CorruptDataError
        If it does not agree with the end of the file.
    """
    stripe = tail.stripes[index]
    start = stripe.offset + stripe.index_bytes + stripe.data_bytes
    stored = source.read(start, stripe.footer_bytes)
    try:
        footer = parse(unpacked(stored, tail.codec, tail.block_bytes))
        stream_bytes = sum(stream.number(3) for stream in footer.messages(1))
        numbers = [stream.number(2) for stream in footer.messages(1)]
        encodings = [message.number(1) for message in footer.messages(2)]
    except ValueError as error:
        raise source.damaged(f"stripe {index}: {error}") from error
    count = len(tail.types)
    if (
        stream_bytes != stripe.index_bytes + stripe.data_bytes
        or len(encodings) != count
        or not all(number < count for number in numbers)
        or not all(encoding < _ENCODINGS for encoding in encodings)
    ):
        raise source.damaged(f"stripe {index} does not say what its streams are")


_ENCODINGS = 4


def unpacked(data: bytes, codec: int, block_bytes: int) -> bytes:
    """Take the compression off a stream: chunks with three bytes of head.

    Raises
    ------
    ValueError
        If a chunk is damaged.
    """
    if codec == NONE:
        return data
    return b"".join(_chunks(data, codec, block_bytes))


def _chunks(data: bytes, codec: int, block_bytes: int) -> Iterator[bytes]:
    position = 0
    while position < len(data):
        head = int.from_bytes(data[position : position + 3], "little")
        position += 3
        chunk = data[position : position + (head >> 1)]
        if len(chunk) != head >> 1 or len(chunk) > block_bytes:
            raise ValueError(f"a chunk of {head >> 1} bytes")
        position += len(chunk)
        try:
            yield chunk if head & 1 else _INFLATE[codec](chunk, block_bytes)
        except (zlib.error, zstandard.ZstdError, pa.ArrowException, OSError) as error:
            raise ValueError(f"a chunk does not decompress: {error}") from error


def _unzlib(chunk: bytes, limit: int) -> bytes:
    inflate = zlib.decompressobj(-15)
    plain = inflate.decompress(chunk, limit)
    if not inflate.eof:
        raise ValueError("a compressed chunk is cut or too large")
    return plain


def _unzstd(chunk: bytes, limit: int) -> bytes:
    return zstandard.ZstdDecompressor().decompress(chunk, max_output_size=limit)


def _unsnappy(chunk: bytes, limit: int) -> bytes:
    size = shift = 0
    for byte in chunk[:5]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            break
    if size > limit:
        raise ValueError(f"a chunk of {size} bytes")
    plain: bytes = pa.Codec("snappy").decompress(chunk, size, asbytes=True)
    return plain


def _unlz4(chunk: bytes, limit: int) -> bytes:
    """Decompress an LZ4 block, whose size is written nowhere."""
    out = bytearray()
    position, end = 0, len(chunk)
    try:
        while position < end:
            token = chunk[position]
            literals, position = _lz4_length(chunk, position + 1, token >> 4)
            out += chunk[position : position + literals]
            position += literals
            if position >= end:
                break
            distance = chunk[position] | chunk[position + 1] << 8
            length, position = _lz4_length(chunk, position + 2, token & 15)
            start = len(out) - distance
            if distance == 0 or start < 0 or len(out) + length > limit:
                raise ValueError("a chunk does not decompress")
            for place in range(start, start + length + 4):
                out.append(out[place])
    except IndexError as error:
        raise ValueError("a compressed chunk is cut") from error
    return bytes(out)


def _lz4_length(chunk: bytes, position: int, length: int) -> tuple[int, int]:
    if length == 15:
        while True:
            more = chunk[position]
            position += 1
            length += more
            if more != 255:
                break
    return length, position


_INFLATE: Mapping[int, Callable[[bytes, int], bytes]] = {
    ZLIB: _unzlib,
    SNAPPY: _unsnappy,
    LZ4: _unlz4,
    ZSTD: _unzstd,
}
