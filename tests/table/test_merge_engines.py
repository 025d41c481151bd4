"""Tables with other merge engines than deduplicate: written, read, filtered, counted, refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from msgspec.structs import replace

import paimonlab as pl
from paimonlab.errors import DataError, SchemaError, UnsupportedError
from paimonlab.read.read_plan import ReadBounds
from paimonlab.read.splits import read_splits, winner_masks
from paimonlab.table.inside import store_of

COLUMNS = {"k": "BIGINT NOT NULL", "v": "BIGINT", "s": "STRING", "g": "INT"}
SUMS = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
GROUPS = {
    "merge-engine": "partial-update",
    "fields.g.sequence-group": "v,s",
    "fields.v.aggregate-function": "sum",
}


@pytest.fixture
def catalog(tmp_path: Path) -> pl.Catalog:
    made = pl.connect(tmp_path)
    made.create_database("db")
    return made


def made(catalog: pl.Catalog, options: Mapping[str, str], **columns: str) -> pl.Table:
    return catalog.create_table(
        "db.t", columns or COLUMNS, primary_keys=["k"], options={"bucket": "2", **options}
    )


def rows(**columns: Sequence[Any]) -> pa.Table:
    return pa.table(dict(columns))


def sorted_rows(table: pa.Table) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.sort_by("k").to_pylist()
    return found


def random_rows(rng: np.random.Generator, count: int) -> pa.Table:
    def some(values: list[Any]) -> list[Any]:
        return [None if rng.random() < 0.3 else value for value in values]

    return pa.table(
        {
            "k": rng.integers(0, 40, count),
            "v": pa.array(some(rng.integers(-9, 9, count).tolist()), pa.int64()),
            "s": pa.array(some(rng.choice(list("abc"), count).tolist()), pa.string()),
            "g": pa.array(some(rng.integers(0, 5, count).tolist()), pa.int32()),
        }
    )


def test_values_are_filtered_after_merging_and_keys_before(catalog: pl.Catalog) -> None:
    table = made(catalog, SUMS)
    for _ in range(3):
        table.write(rows(k=[1, 2, 3], v=[1, 10, 100], s=["a", "b", "c"], g=[1, 1, 1]))

    assert table.scan(["k", "v"], "v > 3").to_arrow().num_rows == 2
    assert table.scan(["v"], "v = 30").to_arrow().to_pylist() == [{"v": 30}]
    assert table.scan(["v"], "k = 3").to_arrow().to_pylist() == [{"v": 300}]
    assert table.scan(["s"], "k < 3 AND v = 3").to_arrow().to_pylist() == [{"s": "a"}]
    assert table.scan(where="v = 1").count() == 0
    assert table.scan().count() == 3
    assert table.scan(limit=2).to_arrow().num_rows == 2
    assert table.lookup({"k": [2, 7]}).column("v").to_pylist() == [30]


@pytest.mark.parametrize("options", [SUMS, GROUPS, {"merge-engine": "partial-update"}])
def test_small_pieces_give_the_same(
    catalog: pl.Catalog, options: Mapping[str, str], rng: np.random.Generator
) -> None:
    table = made(catalog, options)
    for _ in range(5):
        table.write(random_rows(rng, 60))
    scan = table.scan()
    whole = sorted_rows(scan.to_arrow())
    bounds = ReadBounds(batch_rows=5, piece_rows=7, piece_bytes=1 << 20)

    plan = replace(scan.read_plan(), bounds=bounds)
    found = read_splits(scan.plan().splits, plan, store_of(table).file_io).read_all()

    assert sorted_rows(found) == whole
    assert len(whole) == scan.count()


@pytest.mark.parametrize("options", [SUMS, GROUPS, {"merge-engine": "partial-update"}])
def test_projections_are_parts_of_the_whole(
    catalog: pl.Catalog, options: Mapping[str, str], rng: np.random.Generator
) -> None:
    table = made(catalog, options)
    for _ in range(4):
        table.write(random_rows(rng, 60))
    whole = sorted_rows(table.scan().to_arrow())

    for names in (["k", "v"], ["s", "k"], ["k", "g"], ["k"]):
        found = sorted_rows(table.scan(names).to_arrow())
        assert found == [{name: row[name] for name in names} for row in whole]


def test_one_write_or_many_give_the_same(catalog: pl.Catalog, rng: np.random.Generator) -> None:
    batches = [random_rows(rng, 30) for _ in range(4)]
    for name, options in {"sums": SUMS, "groups": GROUPS}.items():
        found = []
        for writes in (batches, [pa.concat_tables(batches)]):
            table = catalog.create_table(
                f"db.{name}{len(writes)}",
                COLUMNS,
                primary_keys=["k"],
                options={"bucket": "1", **options},
            )
            for batch in writes:
                table.write(batch)
            found.append(sorted_rows(table.scan().to_arrow()))
        if options is SUMS:
            assert found[0] == found[1]
        else:
            assert [row["k"] for row in found[0]] == [row["k"] for row in found[1]]


def test_rows_that_are_ignored_are_not_written(catalog: pl.Catalog) -> None:
    table = made(catalog, {"ignore-delete": "true"})
    table.write(rows(k=[1, 2], v=[1, 2], s=["a", "b"], g=[1, 1]))

    data = rows(k=[1, 2], v=[5, 5], s=["x", "x"], g=[1, 1], kind=["-D", "-U"])

    assert table.write(data, row_kinds="kind") is None
    assert table.scan(["v"]).to_arrow().column("v").to_pylist() == [1, 2]


def test_updates_before_are_ignored_where_the_option_says_so(catalog: pl.Catalog) -> None:
    table = made(catalog, {"ignore-update-before": "true", **SUMS})
    data = rows(k=[1, 1], v=[5, 3], s=["x", "x"], g=[1, 1], kind=["+I", "-U"])

    table.write(data, row_kinds="kind")

    assert table.scan(["v"]).to_arrow().column("v").to_pylist() == [5]


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"merge-engine": "first-row"}, "-D", "ignore-delete"),
        ({"merge-engine": "partial-update"}, "-U", "sequence groups"),
        ({**SUMS, "fields.s.aggregate-function": "max"}, "-D", "fields.s.ignore-retract"),
        ({**GROUPS, "fields.s.aggregate-function": "listagg"}, "-D", "fields.s.ignore-retract"),
    ],
)
def test_rows_that_would_make_a_key_unreadable_are_refused(
    catalog: pl.Catalog, options: Mapping[str, str], kind: str, words: str
) -> None:
    table = made(catalog, options)

    with pytest.raises(DataError, match=words):
        table.write(rows(k=[1], v=[1], s=["a"], g=[1], kind=[kind]), row_kinds="kind")

    assert table.snapshot is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"merge-engine": "first-row", "sequence.field": "g"}, "sequence.field"),
        ({**GROUPS, "partial-update.remove-record-on-delete": "true"}, "contradict"),
        ({**GROUPS, "fields.g.aggregate-function": "sum"}, "'g'"),
        ({"merge-engine": "partial-update", "fields.g.sequence-group": "x"}, "no column 'x'"),
        ({**GROUPS, "partial-update.remove-record-on-sequence-group": "v"}, "not a sequence field"),
        (
            {"merge-engine": "partial-update", "fields.v.aggregate-function": "sum"},
            "needs a sequence group",
        ),
        ({**SUMS, "fields.s.aggregate-function": "sum"}, "does not take STRING"),
        ({**SUMS, "fields.s.aggregate-function": "summe"}, "not one of"),
        ({**SUMS, "sequence.field": "v"}, "'v'"),
        (
            {
                **SUMS,
                "aggregation.remove-record-on-delete": "true",
                "fields.s.ignore-retract": "true",
            },
            "contradict",
        ),
        ({"record-level.expire-time": "1 d"}, "time-field"),
        ({"record-level.time-field": "s"}, "must be INT"),
    ],
)
def test_what_contradicts_itself_is_refused(
    catalog: pl.Catalog, options: Mapping[str, str], words: str
) -> None:
    with pytest.raises(SchemaError, match=words):
        made(catalog, options)


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        ("nested_partial_update", "ARRAY<ROW<a INT>>"),
        ("merge_map_with_keytime", "MAP<STRING, INT>"),
    ],
)
def test_functions_that_are_not_built_are_refused(
    catalog: pl.Catalog, function: str, kind: str
) -> None:
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": function}

    with pytest.raises(UnsupportedError, match=function):
        made(catalog, options, k="INT NOT NULL", v=kind)


def test_merged_rows_have_no_mask(catalog: pl.Catalog) -> None:
    table = made(catalog, SUMS)
    for _ in range(2):
        table.write(rows(k=[1, 2], v=[1, 2], s=["a", "b"], g=[1, 1]))
    scan = table.scan()

    with pytest.raises(UnsupportedError, match="aggregation"):
        winner_masks(scan.plan().splits[0], scan.read_plan(), store_of(table).file_io)


def test_a_renamed_column_keeps_its_function_and_group(catalog: pl.Catalog) -> None:
    made(catalog, GROUPS)

    table = catalog.alter_table("db.t", pl.RenameColumn("v", "w"), pl.RenameColumn("g", "h"))

    assert table.options["fields.h.sequence-group"] == "w,s"
    assert table.options["fields.w.aggregate-function"] == "sum"


def test_rows_of_first_row_wait_for_compaction(catalog: pl.Catalog) -> None:
    """Readers of such tables see compacted files only, as Java's do."""
    table = made(catalog, {"merge-engine": "first-row", "write-only": "true"})

    table.write(rows(k=[1, 1], v=[1, 2], s=["a", "b"], g=[1, 1]))

    assert table.scan().count() == 0
    assert table.snapshot is not None
    assert table.snapshot.total_record_count == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {**SUMS, "fields.v.ignore-retract": "true"},
            "column 'v' is NOT NULL, and 'fields.v.ignore-retract' = 'true' leaves keys",
        ),
        (
            {**SUMS, "fields.v.aggregate-function": "last_value"},
            "column 'v' is NOT NULL, and 'fields.v.aggregate-function' = 'last_value' makes it",
        ),
        (
            {"merge-engine": "partial-update", "fields.g.sequence-group": "v,s"},
            "column 'v' is NOT NULL, and rows of kind -U or -D make it null by 'fields.g.",
        ),
    ],
)
def test_retracted_values_that_must_be_there_are_refused(
    catalog: pl.Catalog, options: Mapping[str, str], words: str
) -> None:
    table = made(catalog, options, **{**COLUMNS, "v": "BIGINT NOT NULL"})
    first = rows(k=[1, 2], v=[1, 2], s=["a", "b"], g=[1, 1])
    table.write(first)
    is_group = "merge-engine" in options and options["merge-engine"] == "partial-update"
    kinds = ["+I", "-D"] if is_group else ["-D", "-D"]
    deletes = rows(k=[3, 3], v=[1, 2], s=["a", "b"], g=[1, 2], kind=kinds)

    with pytest.raises(DataError) as caught:
        table.write(deletes, row_kinds="kind")

    assert words in str(caught.value)
    assert sorted_rows(table.scan().to_arrow()) == first.to_pylist()
    assert table.fsck(deep=True).findings == ()


def test_values_that_must_be_there_come_back_in_a_nullable_column(catalog: pl.Catalog) -> None:
    options = {**SUMS, "fields.v.ignore-retract": "true", "write-only": "true"}
    table = made(catalog, options, **{**COLUMNS, "v": "BIGINT NOT NULL"})
    for number in (1, 2):
        data = rows(k=[3], v=[number], s=["a"], g=[1], kind=["-D"])
        table.write(data, row_kinds="kind")
    with pytest.raises(DataError, match="column 'v' is NOT NULL"):
        table.scan().to_arrow()

    nullable = catalog.alter_table("db.t", pl.UpdateColumnNullability("v", nullable=True))

    assert nullable.scan(["k", "v"]).to_arrow().to_pylist() == [{"k": 3, "v": None}]
