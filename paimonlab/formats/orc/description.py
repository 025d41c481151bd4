"""What an ORC file says of itself: stripes, columns, their streams and statistics."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator

from paimonlab.formats.description import ColumnChunk, FileDescription, FilePart, bound_text
from paimonlab.formats.orc import tail as orc
from paimonlab.formats.orc.protobuf import Message, parse
from paimonlab.formats.orc.statistics import bounds
from paimonlab.formats.orc.tail import (
    CODECS,
    OrcTail,
    Source,
    Stripe,
    check_stripe,
    read_tail,
    unpacked,
)
from paimonlab.storage import FileIO

_KINDS = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary"),
    *("timestamp", "list", "map", "struct", "union", "decimal", "date", "varchar", "char"),
    "timestamp with local time zone",
)
_ENCODINGS = ("DIRECT", "DICTIONARY", "DIRECT_V2", "DICTIONARY_V2")


def describe_orc(file_io: FileIO, path: str) -> FileDescription:
    """Read the end of the file and that of each stripe; ORC has no checksums.

    Of a file compressed with LZO, which is not built into Arrow's library, only its size and
    its codec are known.
    """
    with file_io.open_input(path) as file:
        source = Source(file, path)
        tail = read_tail(source)
        parts = tuple(_part(source, tail, index) for index in range(len(tail.stripes)))
    return FileDescription(
        format="orc",
        version="",
        written_by="",
        size_bytes=source.size_bytes,
        row_count=max(tail.row_count, 0),
        parts=parts,
        properties={"compression": CODECS[tail.codec], "block bytes": str(tail.block_bytes)},
    )


def _part(source: Source, tail: OrcTail, index: int) -> FilePart:
    check_stripe(source, tail, index)
    stripe = tail.stripes[index]
    start = stripe.offset + stripe.index_bytes + stripe.data_bytes
    data = source.read(start, stripe.footer_bytes)
    footer = parse(unpacked(data, tail.codec, tail.block_bytes))
    stored: defaultdict[int, int] = defaultdict(int)
    for stream in footer.messages(1):
        stored[stream.number(2)] += stream.number(3)
    encodings = [_ENCODINGS[message.number(1)] for message in footer.messages(2)]
    statistics = tail.stripe_statistics[index] if tail.stripe_statistics else None
    return FilePart(
        first_row=stripe.first_row,
        row_count=stripe.row_count,
        stored_bytes=stripe.size_bytes,
        columns=tuple(
            _chunk(
                tail,
                number,
                name,
                stripe,
                None if statistics is None else statistics[number],
                stored,
                encodings,
            )
            for number, name in _leaves(tail, 0, "")
        ),
    )


def _chunk(
    tail: OrcTail,
    number: int,
    name: str,
    stripe: Stripe,
    statistics: Message | None,
    stored: dict[int, int],
    encodings: list[str],
) -> ColumnChunk:
    kind = tail.types[number].kind
    low, high = (None, None) if statistics is None else bounds(statistics, kind)
    if kind == orc.DATE:
        low, high = (_date(one) for one in (low, high))
    known = statistics is not None and 1 in statistics.values and "." not in name
    return ColumnChunk(
        name=name,
        type_text=_KINDS[kind],
        encodings=(encodings[number],),
        compression=CODECS[tail.codec],
        stored_bytes=stored[number],
        plain_bytes=None,
        low=bound_text(low),
        high=bound_text(high),
        null_count=stripe.row_count - statistics.number(1) if statistics and known else None,
        pages=None,
    )


def _date(days: int | None) -> str | None:
    if days is None:
        return None
    try:
        return str(dt.date(1970, 1, 1) + dt.timedelta(days=days))
    except OverflowError:
        return f"day {days}"


def _leaves(tail: OrcTail, number: int, path: str) -> Iterator[tuple[int, str]]:
    """Yield the columns that hold values, with the path to each."""
    node = tail.types[number]
    if not node.children:
        yield number, path
    names = {orc.LIST: ("element",), orc.MAP: ("key", "value")}.get(node.kind, node.names)
    for name, child in zip(
        names or map(str, range(len(node.children))), node.children, strict=True
    ):
        yield from _leaves(tail, child, f"{path}.{name}" if path else name)
