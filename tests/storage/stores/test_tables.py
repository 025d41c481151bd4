"""Tables in a bucket: all that they can do, against a dict and plain pyarrow."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest

import paimonlab as pl
from paimonlab.errors import ReadOnlyError, UnsupportedError
from paimonlab.table.table import Table

Rows = dict[int, str]


@pytest.fixture
def catalog(warehouse: Mapping[str, str]) -> pl.Catalog:
    catalog = pl.connect(warehouse)
    catalog.create_database("db")
    return catalog


def keyed(catalog: pl.Catalog, **options: str) -> Table:
    return catalog.create_table(
        "db.t",
        {"id": "BIGINT NOT NULL", "p": "STRING NOT NULL", "v": "STRING"},
        primary_keys=["id", "p"],
        partition_keys=["p"],
        options={"bucket": "2", **{key.replace("_", "-"): text for key, text in options.items()}},
    )


def batch(rows: Mapping[int, str]) -> pa.Table:
    return pa.table(
        {"id": list(rows), "p": [f"a:{key % 2}" for key in rows], "v": list(rows.values())}
    )


def rows_of(table: Any, tag: str | None = None) -> Rows:
    found = table.scan(tag=tag).to_arrow().to_pydict()
    return dict(zip(found["id"], found["v"], strict=True))


@pytest.mark.parametrize(
    ("file_format", "vectors"), [("parquet", "true"), ("orc", "true"), ("avro", "false")]
)
def test_a_table_with_keys_is_what_was_written(
    catalog: pl.Catalog, warehouse: Mapping[str, str], file_format: str, vectors: str
) -> None:
    table = keyed(catalog, **{"file.format": file_format, "deletion-vectors.enabled": vectors})
    chance = random.Random(7)
    model: Rows = {}
    for turn in range(3):
        change = {chance.randrange(400): f"{turn}-{chance.random()}" for _ in range(150)}
        table.write(batch(change))
        model |= change
        table.delete(f"id BETWEEN {turn * 40} AND {turn * 40 + 20}")
        gone = range(turn * 40, turn * 40 + 21)
        model = {key: value for key, value in model.items() if key not in gone}
        assert rows_of(pl.connect(warehouse).table("db.t")) == model

    table.compact(full=True)

    opened = pl.connect(warehouse).table("db.t")
    assert rows_of(opened) == model
    assert isinstance(opened, Table)
    assert not opened.fsck(deep=True).findings
    found = opened.scan(where="id = 25").to_arrow().to_pylist()
    assert [row["v"] for row in found] == ([model[25]] if 25 in model else [])


def test_upkeep_leaves_what_is_used(
    catalog: pl.Catalog, s3_server: str, warehouse: Mapping[str, str]
) -> None:
    table = keyed(catalog, **{"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "2"})
    model: Rows = {}
    for turn in range(6):
        change = {key: str(turn) for key in range(turn, 60 + turn)}
        table.write(batch(change))
        model |= change
    tagged = dict(model)
    table.tags.create("kept")
    table.compact(full=True)
    table.write(batch({1: "new"}))
    model[1] = "new"

    table.maintenance.expire_snapshots(retain_max=1)
    junk = f"{table.path}/p=a%3A0/bucket-0/data-junk.parquet"
    catalog.file_io.write(junk, b"junk")
    time.sleep(2.3)  # the server keeps whole seconds
    limit = datetime.now(UTC) - timedelta(seconds=2.1)
    table.maintenance.remove_orphan_files(older_than=limit, force=True, dry_run=False)

    assert not catalog.file_io.exists(junk)
    opened = pl.connect(warehouse).table("db.t")
    assert isinstance(opened, Table)
    assert rows_of(opened) == model
    assert rows_of(opened, tag="kept") == tagged
    assert not opened.fsck(deep=True).findings
    opened.tags.delete("kept")
    assert opened.tags.list() == {}


def test_data_files_are_read_by_plain_pyarrow(
    catalog: pl.Catalog, s3_server: str, warehouse: Mapping[str, str]
) -> None:
    table = catalog.create_table("db.a", {"id": "BIGINT", "v": "STRING"})
    data = pa.table({"id": range(50_000), "v": [str(n) for n in range(50_000)]})
    table.write(data)
    other = pyarrow.fs.S3FileSystem(
        access_key="a", secret_key="b", endpoint_override=s3_server, region="us-east-1"
    )
    folder = warehouse["warehouse"].removeprefix("s3://") + "/db.db/a/bucket-0"
    read = pq.read_table(folder, filesystem=other, columns=["id", "v"])

    assert read.sort_by("id").to_pydict() == data.to_pydict()
    assert table.scan(where="id >= 49990").to_arrow().num_rows == 10


def test_changes_are_followed(catalog: pl.Catalog) -> None:
    table = keyed(catalog, **{"changelog-producer": "input"})
    table.write(batch({1: "a"}))
    follower = table.follow(until="latest")
    first = [change.data for change in follower]
    table.write(batch({1: "b", 2: "c"}))
    after = table.follow(start=follower.position, until="latest")
    second = [change.data for change in after]

    assert [rows.column("v").to_pylist() for rows in (*first, *second)] == [["a"], ["b", "c"]]


def test_definitions_change(catalog: pl.Catalog, warehouse: Mapping[str, str]) -> None:
    table = keyed(catalog)
    table.write(batch({1: "a"}))
    catalog.alter_table("db.t", pl.AddColumn("n", "INT"))

    opened = pl.connect(warehouse).table("db.t")

    assert opened.scan().to_arrow().column_names == ["id", "p", "v", "n"]
    with pytest.raises(UnsupportedError, match="moving the folder"):
        catalog.rename_table("db.t", "db.u")
    catalog.drop_table("db.t")
    assert catalog.tables("db") == []
    catalog.drop_database("db")
    assert catalog.databases() == []


def test_a_catalog_to_read_changes_nothing(
    catalog: pl.Catalog, warehouse: Mapping[str, str]
) -> None:
    keyed(catalog).write(batch({1: "a"}))
    opened = pl.connect({**warehouse, "read-only": "true"}).table("db.t")

    assert rows_of(opened) == {1: "a"}
    with pytest.raises(ReadOnlyError):
        opened.write(batch({1: "b"}))


def test_lookups_by_key_use_local_copies(catalog: pl.Catalog) -> None:
    table = keyed(catalog)
    table.write(batch({key: str(key) for key in range(5000)}))
    table.write(batch({7: "seven"}))

    for _ in range(2):
        found = table.scan(where="id = 7 AND p = 'a:1'").to_arrow().to_pylist()
        assert [row["v"] for row in found] == ["seven"]


def test_branches_that_need_a_folder_moved_are_refused(catalog: pl.Catalog) -> None:
    table = keyed(catalog)
    table.write(batch({1: "a"}))

    with pytest.raises(UnsupportedError, match="moving the folder"):
        table.branches.create("b")

    assert table.branches.list() == []
    assert rows_of(table) == {1: "a"}
