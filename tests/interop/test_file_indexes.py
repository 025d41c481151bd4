"""File indexes: what either writes is what the other would, and both filter by them alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from paimonlab.formats.file_index import container
from paimonlab.formats.file_index.bitmap import BitmapIndex, StoredBitmaps
from paimonlab.formats.file_index.values import form_of
from paimonlab.spec.types.text import parse_type
from tests.interop.pair import Pair, random_rows

pytestmark = pytest.mark.interop

COLUMNS = {
    "i": "INT",
    "l": "BIGINT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "s": "STRING",
    "t": "TIMESTAMP(6)",
    "b": "BOOLEAN",
    "n": "TINYINT",
    "m": "DECIMAL(10, 2)",
    "y": "BYTES",
    "x": "MAP<STRING NOT NULL, INT>",
}
OPTIONS = {
    "bucket": "-1",
    "file-index.in-manifest-threshold": "1 b",
    "file-index.bloom-filter.columns": "i,l,f,d,s,t,y",
    "file-index.bitmap.columns": "i,l,s,t,b,x[a],x[nothing]",
    "file-index.bitmap.i.version": "1",
    "file-index.bitmap.s.index-block-size": "400 b",
    "file-index.bsi.columns": "i,n,m",
    "file-index.range-bitmap.columns": "i,l,f,d,s,t,b,n,m",
    "file-index.range-bitmap.s.chunk-size": "500 b",
} | {f"file-index.bloom-filter.{name}.items": "300" for name in "ilfdsty"}


def _bitmap(data: bytes | None, name: str) -> BitmapIndex | None:
    form = form_of(parse_type("INT" if name.startswith("x") else COLUMNS[name]), "bitmap")
    assert form is not None
    return None if data is None else StoredBitmaps.read(data, form).whole()


def _index(table_path: str) -> dict[str, dict[str, bytes | None]]:
    (path,) = Path(table_path).glob("bucket-0/*.index")
    return container.decode(path.read_bytes())


@pytest.mark.parametrize("rows", [0, 1, 250])
def test_indexes_of_the_same_rows_are_the_same(
    pair: Pair, rows: int, rng: np.random.Generator
) -> None:
    data = random_rows(COLUMNS, max(rows, 1), rng)
    if not rows:  # one row of nulls
        data = data.slice(0, 0).from_pylist([dict.fromkeys(COLUMNS)], data.schema)
    for side in ("us", "java"):
        pair.create("us", f"db.{side}", COLUMNS, options=OPTIONS)
        pair.write(side, f"db.{side}", data)
    ours, javas = (_index(pair.open(f"db.{side}").path) for side in ("us", "java"))
    assert {name: set(kinds) for name, kinds in ours.items()} == {
        name: set(kinds) for name, kinds in javas.items()
    }
    for name, kinds in javas.items():
        for kind, stored in kinds.items():
            if kind == "bitmap":  # Java stores the rows of values in the order of a hash table
                one, other = _bitmap(ours[name][kind], name), _bitmap(stored, name)
                assert (one is None) == (other is None)
                if one is not None and other is not None:
                    assert one.nulls == other.nulls
                    assert dict(zip(one.keys, one.rows, strict=True)) == dict(
                        zip(other.keys, other.rows, strict=True)
                    )
            else:
                assert ours[name][kind] == stored, (name, kind)


def test_both_filter_by_the_indexes_of_both(pair: Pair, rng: np.random.Generator) -> None:
    pair.create("us", "db.t", COLUMNS, options=OPTIONS)
    for side in ("us", "java", "us", "java"):
        pair.write(side, "db.t", random_rows(COLUMNS, 60, rng))
    table = pair.open("db.t")
    whole = table.scan().to_arrow()
    plain = {"file-index.read.enabled": "false"}
    for name in ("i", "l", "s", "n", "b"):
        for value in whole[name].drop_null().to_pylist()[::25]:
            literal = f"'{value}'" if isinstance(value, str) else str(value)
            for sign in ("=", "!=", "<", ">="):
                where = f"{name} {sign} {literal}"
                if "'" in str(value) or "\0" in str(value):
                    continue
                found = table.scan(["i", "l", "s"], where=where)
                again = table.scan(["i", "l", "s"], where=where, options=plain)
                count = found.to_arrow().num_rows
                assert count == again.to_arrow().num_rows, where
                if name in "iln":
                    assert len(pair.java_rows("db.t", filter=[sign, name, value])) == count, where
