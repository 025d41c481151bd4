"""Forms that MariaDB does not write: JSON and sets of transactions as MySQL has them."""

from __future__ import annotations

import itertools
import json
import struct
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paimonlab.errors import IngestStateError, UnsupportedError
from paimonlab.ingest import JsonValue, RowChanges
from paimonlab.ingest.sources.mysql.binary_json import json_text
from paimonlab.ingest.sources.mysql.connection import recovered_xa
from paimonlab.ingest.sources.mysql.events import EventType, LogColumn, LogTable, LogType
from paimonlab.ingest.sources.mysql.gathered_rows import Group
from paimonlab.ingest.sources.mysql.log_tables import Charsets, table_info, table_rows
from paimonlab.ingest.sources.mysql.positions import (
    MariaDbGtids,
    MySqlGtids,
    Place,
    Position,
    ReadRows,
    from_json,
)
from paimonlab.ingest.sources.mysql.snapshot_values import reader
from paimonlab.spec.types.text import parse_type

_LITERALS = {None: 0, True: 1, False: 2}


def _encoded(value: Any, *, is_large: bool) -> tuple[int, bytes]:
    """Write a value as ``json_binary.h`` describes it: type and bytes."""
    if value is None or isinstance(value, bool):
        return 4, bytes([_LITERALS[value]])
    if isinstance(value, int):
        for kind, form in ((5, "<h"), (6, "<H"), (7, "<i"), (8, "<I"), (9, "<q"), (10, "<Q")):
            try:
                return kind, struct.pack(form, value)
            except struct.error:
                continue
    if isinstance(value, float):
        return 11, struct.pack("<d", value)
    if isinstance(value, str):
        data = value.encode()
        size, head = len(data), b""
        while size > 127:
            head, size = head + bytes([size & 127 | 128]), size >> 7
        return 12, head + bytes([size]) + data
    return _container(value, is_large=is_large)


def _container(value: Any, *, is_large: bool) -> tuple[int, bytes]:
    width, form = (4, "<I") if is_large else (2, "<H")
    is_object = isinstance(value, dict)
    keys = [key.encode() for key in value] if is_object else []
    parts = [_encoded(item, is_large=is_large) for item in (value.values() if is_object else value)]
    at = 2 * width + len(keys) * (width + 2) + len(parts) * (width + 1)
    entries, data = b"", b""
    for key in keys:
        entries += struct.pack(form, at + len(data)) + struct.pack("<H", len(key))
        data += key
    for kind, found in parts:
        is_here = kind in (4, 5, 6) or (is_large and kind in (7, 8))
        entries += bytes([kind])
        if is_here:
            entries += found.ljust(width, b"\0")
        else:
            entries += struct.pack(form, at + len(data))
            data += found
    size = at + len(data)
    kind = (0 if is_object else 2) + is_large
    return kind, struct.pack(form, len(parts)) + struct.pack(form, size) + entries + data


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(-1e6, 1e6).map(lambda number: round(number, 3))
    | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)


@settings(max_examples=40)
@given(_VALUES, st.booleans())
def test_json_is_what_was_stored(value: Any, is_large: bool) -> None:
    kind, data = _encoded(value, is_large=is_large)
    assert json.loads(json_text(bytes([kind]) + data)) == value


def test_json_is_written_as_mysql_does() -> None:
    kind, data = _encoded({"a": [1, 1.0, None], "b": "ä\n"}, is_large=False)
    assert json_text(bytes([kind]) + data) == '{"a": [1, 1.0, null], "b": "ä\\n"}'
    decimal = bytes([15, 246, 5, 5, 2]) + bytes([0x80, 12, 34])
    assert json_text(decimal) == "12.34"
    moment = (((2026 * 13 + 7) << 5 | 9) << 17 | 1 << 12 | 2 << 6 | 3) << 24 | 4
    stored = moment.to_bytes(8, "little")
    assert json_text(bytes([15, 12, 8]) + stored) == '"2026-07-09 01:02:03.000004"'
    assert json_text(bytes([15, 10, 8]) + stored) == '"2026-07-09"'
    with pytest.raises(ValueError, match="damaged"):
        json_text(bytes([0, 1, 0, 12]))


@settings(max_examples=40)
@given(st.lists(st.integers(1, 30), min_size=1))
def test_sets_of_transactions_are_sets(numbers: list[int]) -> None:
    server = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
    found = MySqlGtids(f"{server}:{numbers[0]}")
    for number in numbers:
        found.add(server, number)
    shown = str(found).split(":")[1:]
    ranges = [tuple(map(int, part.split("-"))) for part in shown]
    members = [n for one in ranges for n in range(one[0], one[-1] + 1)]
    assert members == sorted(set(numbers))
    assert all(one[-1] + 1 < other[0] for one, other in itertools.pairwise(ranges))
    assert str(MySqlGtids(str(found))) == str(found)
    assert len(found.to_bytes()) == 8 + 16 + 8 + 16 * len(ranges)


def test_tagged_transactions_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match="tagged GTIDs"):
        MySqlGtids("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5:mark:1")


def test_transactions_of_mariadb_are_the_newest_of_each_domain() -> None:
    found = MariaDbGtids("1-2-3,0-1-21")
    found.add(0, 7, 22)
    found.add(2, 1, 1)
    assert str(found) == "0-7-22,1-2-3,2-1-1"


def test_positions_are_what_was_written() -> None:
    position = Position(
        server="s",
        place=Place(file="binlog.000012", at=4),
        gtids="0-1-2",
        read={
            "a.t": (
                ReadRows(up_to=7, place=Place(file="binlog.000012", at=9)),
                ReadRows(up_to=None, place=Place(file="binlog.000013", at=4)),
            )
        },
        is_snapshot=True,
        outline="x",
        declared={"a.t": {"b": "tinyint(1)"}},
        altered={"a.t": {"c": "d", "e": ""}, "a.u": {}},
        prepared={"X'78',X'',1": ("a.t",), "X'79',X'',1": ()},
    )
    assert from_json(json.loads(json.dumps(position.to_json())), "mysql") == position
    later = position.moved(Place(file="binlog.000013", at=4), "0-1-9")
    assert later.read == {}
    assert position.moved(Place(file="binlog.000012", at=999), "").read == position.read
    wrongs: list[JsonValue] = [7, {}, {"server": "s", "file": "f", "pos": "4"}, {"server": 1}]
    for wrong in wrongs:
        with pytest.raises(IngestStateError):
            from_json(wrong, "mysql")


def test_xa_transactions_that_mysql_lists_are_named_as_in_its_log() -> None:
    assert recovered_xa((1, 3, 0, "0x763030")) == "X'763030',X'',1"
    assert recovered_xa((7, 1, 2, "0xFF7A7A")) == "X'FF',X'7A7A',7"


def test_rows_of_two_moments_take_only_what_is_newer() -> None:
    """Keys up to 10 were read at place 100, the others at 200; some go from one to the other."""
    table = LogTable(
        database="a",
        table="t",
        columns=(LogColumn(name="id", type=LogType.LONG, meta=0, is_nullable=False),),
        keys=("id",),
    )
    charsets = Charsets({})
    info = table_info(table, {}, charsets)
    group = Group(table_rows(table, info, None, charsets, "UTC", frozenset()))
    read = (
        ReadRows(up_to=10, place=Place(file="b.1", at=100)),
        ReadRows(up_to=None, place=Place(file="b.1", at=200)),
    )

    def image(key: int) -> bytes:
        return b"\0" + struct.pack("<i", key)

    for at, kind, keys in (
        (90, EventType.WRITE_V1, [1]),
        (150, EventType.UPDATE_V1, [2, 20, 21, 3, 4, 5, 22, 23]),
        (160, EventType.DELETE_V1, [10, 11]),
        (250, EventType.UPDATE_V1, [6, 24]),
    ):
        group.add(kind, b"".join(map(image, keys)), 0, Place(file="b.1", at=at), at)
    (changes,) = group.events(read)
    assert isinstance(changes, RowChanges)
    assert changes.kinds is not None
    found = zip(changes.kinds.to_pylist(), changes.rows["id"].to_pylist(), strict=True)
    assert list(found) == [(3, 2), (0, 3), (1, 4), (2, 5), (3, 10), (1, 6), (2, 24)]


@pytest.mark.parametrize("name", ["geometry", "point", "geometrycollection", "geomcollection"])
def test_shapes_are_known_by_each_of_their_names(name: str) -> None:
    """MySQL 8 says `geomcollection`: 4 bytes of SRID, then well-known binary."""
    point = struct.pack("<IBIdd", 0, 1, 1, 1.0, 2.0)

    found = reader(name, parse_type("STRING"), "")(pa.array([point, None], pa.binary()))

    text, nothing = found.array.to_pylist()
    assert json.loads(text) == {"type": "Point", "coordinates": [1.0, 2.0], "srid": 0}
    assert nothing is None
