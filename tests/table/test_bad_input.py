"""What is wrong is said by a typed error that names the place; nothing is read or written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import (
    ColumnNotFoundError,
    CorruptDataError,
    CorruptMetadataError,
    DataError,
    PaimonError,
    SchemaError,
    TableNotFoundError,
    UnsupportedError,
)
from paimonlab.formats.manifests.manifest import (
    read_entries,
    read_manifest_list,
    write_entries,
    write_manifest_list,
)
from paimonlab.metadata.manifest_cache import shared_cache
from paimonlab.table.inside import store_of

ROWS = 3000


@pytest.fixture(params=["append", "key"])
def table(catalog: pl.Catalog, request: pytest.FixtureRequest) -> pl.Table:
    has_key = request.param == "key"
    table = catalog.create_table(
        "db.t",
        {"id": "BIGINT", "v": "STRING"},
        primary_keys=["id"] if has_key else [],
        options={"bucket": "1"} if has_key else {},
    )
    ids = list(range(ROWS))
    table.write(pa.table({"id": ids, "v": [f"value-{number}" for number in ids]}))
    table.write(pa.table({"id": [1], "v": ["again"]}))
    return table


def fresh(table: pl.Table) -> pl.Table:
    """Open the table as a new process would: nothing is cached."""
    shared_cache.clear()
    warehouse = Path(table.path).parents[1]
    opened = pl.connect(warehouse).table(table.name)
    assert isinstance(opened, pl.Table)
    return opened


def one(table: pl.Table, pattern: str) -> Path:
    return max(Path(table.path).glob(pattern), key=lambda path: path.stat().st_size)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    # In the first column: what is not read cannot be found damaged.
    for position in range(len(data) // 8, len(data) // 8 + 16):
        data[position] ^= 0x55
    path.write_bytes(data)


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def remove(path: Path) -> None:
    path.unlink()


DAMAGES = [remove, empty, cut, flip, zero]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_data_file_is_named(table: pl.Table, damage: Callable[[Path], None]) -> None:
    path = one(table, "bucket-0/*.parquet")
    damage(path)

    with pytest.raises(CorruptDataError, match=path.name):
        fresh(table).scan().to_arrow()


@pytest.mark.parametrize("pattern", ["manifest/manifest-*-0", "manifest/manifest-list-*"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_manifest_is_named(
    table: pl.Table, damage: Callable[[Path], None], pattern: str
) -> None:
    snapshot = table.snapshot
    assert snapshot is not None
    names = {snapshot.base_manifest_list, snapshot.delta_manifest_list}
    for name in names if "list" in pattern else _manifests(table):
        damage(Path(table.path) / "manifest" / name)

    with pytest.raises(CorruptMetadataError, match="manifest-"):
        fresh(table).scan().to_arrow()


def _manifests(table: pl.Table) -> list[str]:
    snapshot = table.snapshot
    assert snapshot is not None
    metas = store_of(table).manifests.read_list(snapshot.base_manifest_list)
    return [meta.file_name for meta in metas]


@pytest.mark.parametrize("damage", [empty, cut, zero])
def test_a_damaged_snapshot_is_named(table: pl.Table, damage: Callable[[Path], None]) -> None:
    damage(Path(table.path) / "snapshot" / "snapshot-2")

    with pytest.raises(CorruptMetadataError, match="snapshot-2"):
        fresh(table).scan().to_arrow()


@pytest.mark.parametrize("damage", [empty, cut, zero])
def test_a_damaged_schema_is_named(table: pl.Table, damage: Callable[[Path], None]) -> None:
    damage(Path(table.path) / "schema" / "schema-0")

    with pytest.raises(CorruptMetadataError, match="schema-0"):
        fresh(table)


def test_a_missing_latest_snapshot_is_not_replaced_by_an_older_one(table: pl.Table) -> None:
    (Path(table.path) / "snapshot" / "snapshot-2").unlink()

    with pytest.raises(PaimonError, match="snapshot"):
        fresh(table).scan().to_arrow()


@pytest.mark.parametrize(
    "name", ["../../../outside.parquet", "/etc/passwd", "..", "a/../../../../outside.parquet"]
)
def test_a_path_that_leaves_the_table_is_refused(table: pl.Table, name: str) -> None:
    outside = Path(table.path).parents[2] / "outside.parquet"
    outside.write_bytes(one(table, "bucket-0/*.parquet").read_bytes())
    manifest = Path(table.path) / "manifest" / _manifests(table)[0]
    entries = read_entries(manifest.read_bytes(), path=str(manifest))
    position = entries.schema.get_field_index("file_name")
    names = pa.array([name], entries.schema.field(position).type)
    forged = write_entries(entries.set_column(position, entries.schema.field(position), names))
    manifest.write_bytes(forged)
    _set_size(table, manifest.name, len(forged))

    with pytest.raises(CorruptMetadataError, match=r"leads out of the table's folder"):
        fresh(table).scan().to_arrow()


def _set_size(table: pl.Table, name: str, size: int) -> None:
    """Let the manifest lists agree with the forged manifest."""
    sizes = {}
    for path in Path(table.path).glob("manifest/manifest-list-*"):
        metas = read_manifest_list(path.read_bytes(), path=str(path))
        changed = [
            msgspec.structs.replace(meta, file_size_bytes=size) if meta.file_name == name else meta
            for meta in metas
        ]
        data = write_manifest_list(changed)
        path.write_bytes(data)
        sizes[path.name] = len(data)
    for path in Path(table.path).glob("snapshot/snapshot-*"):
        document = json.loads(path.read_text())
        for kind in ("base", "delta"):
            document[f"{kind}ManifestListSize"] = sizes[document[f"{kind}ManifestList"]]
        path.write_text(json.dumps(document))


def test_bad_definitions_are_schema_errors(catalog: pl.Catalog) -> None:
    with pytest.raises(SchemaError, match=r"twice|duplicate|more than once"):
        catalog.create_table("db.x", pa.schema([("a", pa.int32()), ("a", pa.int32())]))
    with pytest.raises(SchemaError, match="DECIMALL"):
        catalog.create_table("db.x", {"a": "DECIMALL(3, 1)"})
    with pytest.raises(SchemaError, match="target-file-size"):
        catalog.create_table("db.x", {"a": "INT"}, options={"target-file-size": "many"})
    with pytest.raises((SchemaError, UnsupportedError), match=r"file.format"):
        catalog.create_table("db.x", {"a": "INT"}, options={"file.format": "parket"})
    with pytest.raises(SchemaError, match="_SEQUENCE_NUMBER"):
        catalog.create_table("db.x", {"_SEQUENCE_NUMBER": "INT"})

    assert catalog.tables("db") == []


def test_bad_reads_are_typed_errors(table: pl.Table, catalog: pl.Catalog) -> None:
    with pytest.raises(TableNotFoundError, match=r"db.tt"):
        catalog.table("db.tt")
    with pytest.raises(ColumnNotFoundError, match=r"'vv'"):
        table.scan(["vv"])
    with pytest.raises(ColumnNotFoundError, match=r"'idd'.*Did you mean 'id'"):
        table.scan(where="idd > 1")
    with pytest.raises((ValueError, SchemaError), match=r"\^"):
        table.scan(where="id >> > 1 AND")
    with pytest.raises(PaimonError, match="id"):
        table.scan(where="id = 'one'")


def test_bad_rows_leave_the_table_as_it_was(table: pl.Table) -> None:
    before = table.scan().count()

    for rows in ({"id": ["x"]}, {"id": [1.5]}, {"id": [1], "w": [1]}):
        with pytest.raises((DataError, ColumnNotFoundError)):
            table.write(pa.table(rows))

    assert table.scan().count() == before
    assert table.snapshot is not None
    assert table.snapshot.id == 2
