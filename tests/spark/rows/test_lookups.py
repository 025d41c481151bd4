"""MERGE by primary key looks the keys of its source up in the buckets, without a join."""

from __future__ import annotations

import pickle
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.classic.dataframe import DataFrame

from paimonlab.catalog import Catalog
from paimonlab.errors import DataError
from paimonlab.scan.split import DataSplit
from paimonlab.spark.rows import changes, executor_lookups, joining, lookups, running
from paimonlab.spark.rows.executor_lookups import LookupTask
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table
from tests.spark.rows.test_statements import COLUMNS, counts, five_rows, rows

KEYS: dict[str, list[Any]] = {
    "BIGINT": [*range(-3, 4000, 3)],
    "STRING": [f"k{n:05d}" for n in range(0, 4000, 3)],
    "BOOLEAN": [True, False],
}
SOURCE = "SELECT * FROM VALUES (1, 'x', 7L), (NULL, 'y', 8L), (9, 'z', 9L) AS s (id, v, n)"


def task_of(table: Table, columns: list[str], *, keeps_others: bool) -> LookupTask:
    scan = table.scan()
    by_bucket: defaultdict[tuple[bytes, int], list[DataSplit]] = defaultdict(list)
    for split in scan.plan().splits:
        by_bucket[split.partition, split.bucket].append(split)
    keys = [scan.schema.arrow_schema.field(key) for key in table.primary_keys]
    wanted = [scan.schema.arrow_schema.field(name).with_name(f"t_{name}") for name in columns]
    added = [pa.field("row", pa.int64()), *wanted, pa.field("found", pa.bool_())]
    fields = [field.with_nullable(nullable=True) for field in (*keys, *added)]
    return LookupTask(
        {key: pickle.dumps(splits) for key, splits in by_bucket.items()},
        scan.narrowed((*table.primary_keys, *columns), None).read_plan(),
        store_of(table).file_io,
        definition_of(table).buckets,
        "found",
        {f"t_{name}": name for name in columns},
        keeps_others,
        pa.schema(fields),
        cuts_timestamps=False,
    )


@pytest.mark.parametrize(
    "kinds", [("BIGINT",), ("STRING",), ("BOOLEAN", "BIGINT"), ("STRING",) * 2]
)
@pytest.mark.parametrize("keeps_others", [True, False])
@pytest.mark.parametrize("piece_bytes", [1, 1 << 26])
def test_lookups_find_what_a_dictionary_has(
    kinds: tuple[str, ...],
    keeps_others: bool,
    piece_bytes: int,
    catalog: Catalog,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [f"k{number}" for number in range(len(kinds))]
    columns = {name: f"{kind} NOT NULL" for name, kind in zip(names, kinds, strict=True)}
    is_parted = len(kinds) > 1
    table = catalog.create_table(
        "db.t",
        columns | {"v": "STRING"},
        primary_keys=names,
        partition_keys=names[:1] if kinds[0] == "BOOLEAN" and is_parted else [],
        options={"bucket": "3"},
    )
    monkeypatch.setattr(executor_lookups, "_PIECE_BYTES", piece_bytes)
    model: dict[tuple[Any, ...], str] = {}

    def some(count: int) -> list[tuple[Any, ...]]:
        return list(
            {
                tuple(KEYS[kind][rng.integers(len(KEYS[kind]))] for kind in kinds)
                for _ in range(count)
            }
        )

    for commit in range(3):
        keys = some(1500)
        model |= dict.fromkeys(keys, f"v{commit}")
        table.write(
            pa.table(
                [*map(list, zip(*keys, strict=True)), [f"v{commit}"] * len(keys)],
                names=[*names, "v"],
            )
        )
    asked: list[tuple[Any, ...]] = some(2500) + some(3) + [(None,) * len(kinds)]
    batches = [
        pa.RecordBatch.from_arrays(
            [
                *(
                    pa.array([key[at] for key in part], table.schema.arrow_schema.field(name).type)
                    for at, name in enumerate(names)
                ),
                pa.array(range(start, start + len(part)), pa.int64()),
            ],
            names=[*names, "row"],
        )
        for start in range(0, len(asked), 1000)
        for part in [asked[start : start + 1000]]
    ]

    found = pa.Table.from_batches(task_of(table, ["v"], keeps_others=keeps_others)(iter(batches)))

    expected = [(row, model.get(key), key in model or None) for row, key in enumerate(asked)]
    got = zip(*(found[name].to_pylist() for name in ("row", "t_v", "found")), strict=True)
    assert list(got) == [row for row in expected if keeps_others or row[2]]


@pytest.fixture
def joins(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return what is joined."""
    found: list[object] = []

    def joined(*arguments: Any) -> Any:
        found.append(arguments)
        return joining.joined(*arguments)

    monkeypatch.setattr(changes, "joined", joined)
    return found


@pytest.mark.parametrize("sorts", [False, True], ids=["as they come", "sorted by key"])
def test_a_merge_by_key_joins_nothing(
    catalog: Catalog,
    spark: SparkSession,
    joins: list[object],
    monkeypatch: pytest.MonkeyPatch,
    sorts: bool,
) -> None:
    table = five_rows(catalog, "keyed")
    sort = DataFrame.sortWithinPartitions
    sorted_by = list[int]()

    def noted(frame: DataFrame, *columns: Any) -> object:
        sorted_by.append(len(columns))
        return sort(frame, *columns)

    monkeypatch.setattr(DataFrame, "sortWithinPartitions", noted)
    if sorts:
        monkeypatch.setattr(lookups, "_SORTED_BYTES", -1)

    found = counts(
        spark,
        f"MERGE INTO paimon.db.t t USING ({SOURCE} UNION ALL SELECT 2, 'w', 30L) s "
        "ON s.id = t.id AND t.n < s.n + 20 "
        "WHEN MATCHED AND t.v = 'a1' THEN UPDATE SET n = t.n + s.n WHEN MATCHED THEN DELETE "
        "WHEN NOT MATCHED AND s.id IS NOT NULL THEN INSERT *",
    )

    assert found == (3, 1, 1, 1)
    assert rows(table) == [(1, "a1", 17), (3, "a3", 30), (4, "a4", 40), (5, "a5", 50), (9, "z", 9)]
    own = "SELECT id + 4 AS id, v FROM paimon.db.t WHERE id < 5"
    merge = f"MERGE INTO paimon.db.t t USING ({own}) s ON t.id = s.id"
    inserts = "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
    assert counts(spark, f"{merge} WHEN MATCHED THEN UPDATE SET v = s.v {inserts}") == (3, 1, 0, 2)
    assert rows(table)[-3:] == [(7, "a3", None), (8, "a4", None), (9, "z", 9)]
    twice = (
        f"MERGE INTO paimon.db.t t USING ({SOURCE} UNION ALL SELECT 9, 'w', 3L) s ON t.id = s.id"
    )
    with pytest.raises(DataError, match="id = 9"):
        spark.sql(f"{twice} WHEN MATCHED THEN UPDATE SET *")
    assert not joins
    assert sorted_by == [1] * len(sorted_by)
    assert bool(sorted_by) == sorts


def test_a_merge_of_columns_passes_rows_to_python_once(
    catalog: Catalog, spark: SparkSession, joins: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = five_rows(catalog, "keyed")
    values = "(1, 'x', 7L), (2, 'd', 8L), (9, 'z', 9L), (8, NULL, 0L), (7, 'd', 1L)"
    source = f"SELECT * FROM VALUES {values} s (id, v, n)"

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("what is decided needs no expression of target rows")

    with monkeypatch.context() as patched:
        patched.setattr(running, "changed_rows", refused)
        found = counts(
            spark,
            f"MERGE INTO paimon.db.t t USING ({source}) s ON t.id = s.id "
            "WHEN MATCHED AND s.v = 'd' THEN DELETE WHEN MATCHED THEN UPDATE SET n = s.n "
            "WHEN NOT MATCHED AND NOT s.v <=> 'd' THEN INSERT (id, v, n) VALUES (s.id, s.v, 5L)",
        )

    assert found == (4, 1, 1, 2)
    assert rows(table) == [
        *((1, "a1", 7), (3, "a3", 30), (4, "a4", 40), (5, "a5", 50)),
        *((8, None, 5), (9, "z", 5)),
    ]
    dividing = f"MERGE INTO paimon.db.t t USING (SELECT 3 id, 'q' v, 2L n UNION ALL {source}) s"
    clauses = "ON t.id = s.id AND s.n > 0 WHEN MATCHED THEN UPDATE SET n = 100 / s.n, v = s.v"
    spark.sql(f"{dividing} {clauses}")
    assert rows(table)[1] == (3, "q", 50)
    with pytest.raises(DataError, match="id"):
        spark.sql(
            "MERGE INTO paimon.db.t t USING (SELECT CAST(NULL AS INT) id, 'q' v, 2L n) s "
            "ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
        )
    assert not joins


@pytest.mark.parametrize(
    ("condition", "clauses"),
    [
        ("t.id = s.id", "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id + 20, s.v)"),
        ("t.id = s.id", "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = 0"),
        ("t.id = s.n", "WHEN MATCHED THEN UPDATE SET v = s.v"),
    ],
)
def test_other_merges_are_joined(
    condition: str, clauses: str, catalog: Catalog, spark: SparkSession, joins: list[object]
) -> None:
    catalog.create_table("db.t", COLUMNS, primary_keys=["id"], options={"bucket": "2"})
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 'a', 1L)")

    spark.sql(f"MERGE INTO paimon.db.t t USING ({SOURCE} WHERE id > 0) s ON {condition} {clauses}")

    assert joins
