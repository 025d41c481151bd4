"""Tables in a REST catalog of Iceberg's, as its library for Java and pyiceberg read them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import IntegerType, NestedField

import paimonlab as pl
from paimonlab.errors import AccessDeniedError, PostCommitError, SchemaError, UnsupportedError
from tests.catalog.iceberg.conftest import Shown, ours
from tests.catalog.iceberg.java_server import TOKEN
from tests.catalog.rest.proxy import Fault, proxy

V3 = {
    "metadata.iceberg.format-version": "3",
    "deletion-vectors.enabled": "true",
    "deletion-vectors.bitmap64": "true",
}


def make(
    catalog: pl.Catalog,
    shown: Shown,
    columns: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    **more: Sequence[str],
) -> pl.Table:
    made = {**shown.options, **(options or {})}
    columns = columns or {"a": "INT", "b": "STRING"}
    return catalog.create_table("db.t", columns, options=made, **more)  # type: ignore[arg-type]


def check(table: pl.Table, shown: Shown) -> None:
    expected = ours(table)
    assert shown.by_java() == expected
    assert shown.by_pyiceberg() == expected


def test_every_commit_is_shown(catalog: pl.Catalog, shown: Shown) -> None:
    table = make(catalog, shown)
    for number in range(3):
        table.write({"a": [number, number + 10], "b": ["x", None]})
        check(table, shown)
    uuid = shown.opened().metadata.table_uuid
    table.delete("a = 1")
    check(table, shown)
    table.overwrite({"a": [7], "b": ["y"]})
    check(table, shown)
    table.compact()
    check(table, shown)
    metadata = shown.opened().metadata
    assert metadata.table_uuid == uuid
    assert [one.snapshot_id for one in metadata.snapshots] == [1, 2, 3, 4, 5]
    assert shown.by_java(3) == ours(table, snapshot=3)
    assert shown.by_pyiceberg(snapshot_id=2) == ours(table, snapshot=2)


def test_schemas_follow(catalog: pl.Catalog, shown: Shown) -> None:
    table = make(catalog, shown, {"a": "INT", "b": "STRING", "gone": "INT"})
    table.write({"a": [1], "b": ["x"], "gone": [9]})
    table = catalog.alter_table("db.t", pl.SetOption("snapshot.num-retained.min", "7"))
    table = catalog.alter_table("db.t", pl.RenameColumn("b", "c"), pl.DropColumn("gone"))
    table = catalog.alter_table("db.t", pl.SetOption("snapshot.num-retained.min", "8"))
    table = catalog.alter_table(
        "db.t", pl.AddColumn("b", "DECIMAL(9, 2)"), pl.UpdateColumnType("a", "BIGINT")
    )
    table.write([{"a": 2, "c": "y", "b": Decimal("0.50")}])
    check(table, shown)
    assert shown.by_java(1) == ours(table, snapshot=1)
    table = catalog.alter_table("db.t", pl.AddColumn("d", "ARRAY<INT>"))
    table.write([{"a": 3, "c": "z", "b": None, "d": [4]}])
    assert shown.by_pyiceberg() == ours(table)
    schemas = shown.opened().metadata.schemas
    assert [len(one.fields) for one in schemas] == [0, 3, 2, 3, 4], "each once"


@pytest.mark.parametrize("keys", [["p"], ["q"], ["q", "p"]])
def test_partitions(catalog: pl.Catalog, shown: Shown, keys: list[str]) -> None:
    columns = {"p": "INT", "f1": "STRING", "q": "STRING"}
    table = make(catalog, shown, columns, partition_keys=keys)
    for number in range(3):
        table.write({"p": [number], "f1": ["x"], "q": [f"q{number}"]})
        check(table, shown)
    table.delete("p = 1 AND q = 'q1'")
    check(table, shown)
    found = shown.by_pyiceberg(row_filter="p = 2 and q = 'q2'")
    assert found == ours(table, where="p = 2 AND q = 'q2'")
    if "p" not in keys:
        assert len(list(shown.opened().scan(row_filter="q = 'q2'").plan_files())) == 1


def test_tags_are_shown_at_once(catalog: pl.Catalog, shown: Shown) -> None:
    table = make(catalog, shown)
    table.write({"a": [1], "b": ["x"]})
    table.tags.create("one")
    table.write({"a": [2], "b": ["y"]})
    table.tags.create("two")
    assert shown.by_java("one") == ours(table, tag="one")
    table.tags.rename("two", "three")
    table.tags.delete("one")
    assert {*shown.opened().metadata.refs} == {"main", "three"}
    table.tags.replace("three", snapshot=1)
    assert shown.opened().metadata.refs["three"].snapshot_id == 1
    table.write({"a": [3], "b": ["z"]})
    assert shown.by_java("three") == ours(table, snapshot=1)


def test_snapshots_expire(catalog: pl.Catalog, shown: Shown) -> None:
    retained = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "3"}
    table = make(catalog, shown, options=retained)
    for number in range(7):
        table.write({"a": [number], "b": ["x"]})
        if number == 2:
            table.tags.create("third")
    check(table, shown)
    metadata = shown.opened().metadata
    assert [one.snapshot_id for one in metadata.snapshots] == [5, 6, 7]
    assert {*metadata.refs} == {"main"}
    for number in (5, 6):
        assert shown.by_java(number) == ours(table, snapshot=number)


@pytest.mark.parametrize("has_key", [True, False])
def test_deletion_vectors_of_version_3(catalog: pl.Catalog, shown: Shown, has_key: bool) -> None:
    table = make(
        catalog,
        shown,
        {"k": "INT NOT NULL", "v": "STRING"},
        {**V3, "bucket": "1", **({} if has_key else {"bucket-key": "k"})},
        primary_keys=["k"] if has_key else [],
    )
    table.write({"k": list(range(20)), "v": ["x"] * 20})
    if has_key:
        table.compact(full=True)
    table.delete("k IN (3, 7)")
    if has_key:
        table.write({"k": [5, 30], "v": ["new", "y"]})
        table.compact()
    assert shown.by_java() == ours(table)
    table.write({"k": [100], "v": ["z"]})
    table.compact(full=True)
    assert shown.by_java() == ours(table)
    metadata = shown.opened().metadata
    assert metadata.format_version == 3
    assert any(one.summary["total-delete-files"] == "1" for one in metadata.snapshots)  # type: ignore[index]


@pytest.mark.parametrize("version", ["2", "3"])
def test_a_rollback_is_followed(catalog: pl.Catalog, shown: Shown, version: str) -> None:
    table = make(catalog, shown, options={"metadata.iceberg.format-version": version})
    for number in range(4):
        table.write({"a": [number], "b": ["x"]})
    table.maintenance.rollback_to(snapshot=2)
    assert shown.by_java() == ours(table)
    for number in (12, 13, 14):
        table.write({"a": [number], "b": ["y"]})
        assert shown.by_java() == ours(table)
    if version == "2":
        check(table, shown)
    else:
        assert (getattr(shown.opened().metadata, "next_row_id", None) or 0) >= 5


def test_commits_stand_without_the_catalog_and_are_told_later(
    catalog: pl.Catalog, shown: Shown
) -> None:
    faults = list[Fault]()
    with proxy(shown.address, lambda *_: faults[0] if faults else None) as between:
        there = Shown(between)
        table = make(catalog, there)
        table.write({"a": [1], "b": ["x"]})
        table.tags.create("one")
        faults.append(Fault.UNAVAILABLE_BEFORE)
        for number in (2, 3):
            with pytest.raises(PostCommitError, match=f"snapshot {number} is committed.*503"):
                table.write({"a": [number], "b": ["x"]})
        assert shown.by_java() == ours(table, snapshot=1)
        faults.clear()
        table.write({"a": [4], "b": ["x"]})
    check(table, shown)
    assert [one.snapshot_id for one in shown.opened().metadata.snapshots] == [1, 2, 3, 4]


@pytest.mark.parametrize("fault", [Fault.UNAVAILABLE_AFTER, Fault.FAILED_AFTER, Fault.RESET_AFTER])
def test_lost_answers_are_looked_after(catalog: pl.Catalog, shown: Shown, fault: Fault) -> None:
    sent = list[str]()

    def every_second_change(method: str, path: str) -> Fault | None:
        if method == "GET":
            return None
        sent.append(path)
        return fault if len(sent) % 2 else None

    with proxy(shown.address, every_second_change) as between:
        table = make(catalog, Shown(between))
        for number in range(2):
            table.write({"a": [number], "b": ["x"]})
        table.maintenance.rollback_to(snapshot=1)
        table.write({"a": [5], "b": ["x"]})
        table.tags.create("one")
    check(table, shown)
    assert shown.by_java("one") == ours(table)
    assert sent, "there were changes"


def test_writers_at_the_same_time(catalog: pl.Catalog, shown: Shown) -> None:
    make(catalog, shown).write({"a": [-1], "b": ["x"]})

    def write(first: int) -> None:
        for number in range(4):
            catalog.table("db.t").write({"a": [first + number], "b": ["x"]})

    writers = [threading.Thread(target=write, args=(first,)) for first in (0, 100, 200)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    table = catalog.table("db.t")
    assert table.scan().count() == 13
    check(table, shown)


def test_tables_that_are_not_ours_stay(catalog: pl.Catalog, shown: Shown) -> None:
    theirs = RestCatalog("c", uri=shown.address, token=TOKEN)
    theirs.create_namespace("db")
    theirs.create_table("db.t", Schema(NestedField(1, "x", IntegerType())))
    table = make(catalog, shown)
    with pytest.raises(PostCommitError, match=r"table db\.t of http.*metadata\.iceberg\.database"):
        table.write({"a": [1], "b": ["x"]})
    assert [one.name for one in shown.opened().schema().fields] == ["x"]
    elsewhere = {"metadata.iceberg.database": "other", "metadata.iceberg.table": "u"}
    for key, value in elsewhere.items():
        table = catalog.alter_table("db.t", pl.SetOption(key, value))
    table.write({"a": [2], "b": ["y"]})
    assert shown.by_java(table="other/u") == ours(table)


def test_metadata_that_was_lost_is_made_anew_without_dropping_the_table(
    catalog: pl.Catalog, shown: Shown
) -> None:
    table = make(catalog, shown)
    for number in range(2):
        table.write({"a": [number], "b": ["x"]})
    uuid = shown.opened().metadata.table_uuid
    folder = Path(table.path).parents[1] / "iceberg/db/t/metadata"
    for path in folder.glob("v*.json"):
        path.unlink()
    table.write({"a": [2], "b": ["x"]})
    check(table, shown)
    assert shown.opened().metadata.table_uuid == uuid


def test_a_token_for_a_credential(catalog: pl.Catalog, shown: Shown) -> None:
    credential = {
        **shown.options,
        "metadata.iceberg.rest.credential": "me:hidden",
        "metadata.iceberg.rest.rest.auth.type": "oauth2",
    }
    del credential["metadata.iceberg.rest.token"]
    table = catalog.create_table("db.t", {"a": "INT"}, options=credential)
    table.write({"a": [1]})
    check(table, shown)
    for wrong in ({"credential": "me:sesame-of-mine"}, {"token": "sesame-of-mine"}):
        given = {f"metadata.iceberg.rest.{key}": value for key, value in wrong.items()}
        options = {**shown.options, **given}
        other = catalog.create_table("db.u", {"a": "INT"}, options=options)
        with pytest.raises(PostCommitError) as raised:
            other.write({"a": [1]})
        assert isinstance(raised.value.__cause__, AccessDeniedError)
        told = f"{raised.value} {raised.value.__cause__} {other!r}"
        assert "sesame-of-mine" not in told
        catalog.drop_table("db.u")


def test_properties_that_are_refused(catalog: pl.Catalog, shown: Shown) -> None:
    refused = {
        "rest.auth.sigv4.delegate-auth-type": "oauth2",
        "rest.auth.type": "google",
        "ssl": "none",
    }
    for key, value in refused.items():
        with pytest.raises(UnsupportedError, match=rf"metadata\.iceberg\.rest\.{key}"):
            make(catalog, shown, options={f"metadata.iceberg.rest.{key}": value})
    for key in ("rest.auth.type", "uri"):
        value = {"rest.auth.type": "basic", "uri": ""}[key]
        with pytest.raises(SchemaError, match="needs"):
            make(catalog, shown, options={f"metadata.iceberg.rest.{key}": value})
    with pytest.raises(UnsupportedError, match="goes with"):
        make(catalog, shown, options={"metadata.iceberg.storage": "table-location"})
    make(catalog, shown, options={"metadata.iceberg.rest.s3.region": "eu"}).write(
        {"a": [1], "b": ["x"]}
    )
