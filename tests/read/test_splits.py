from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from msgspec import structs

from paimonlab.errors import CorruptDataError, SchemaNotFoundError
from paimonlab.formats.parquet import ParquetInput
from paimonlab.read.merging import key_condition
from paimonlab.read.read_plan import ReadBounds, ReadOptions
from paimonlab.read.splits import count_rows, read_split, read_splits, winner_masks
from paimonlab.scan.split import DataSplit
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.merge_engine import EngineKind, MergeEngine
from paimonlab.spec.predicates.predicate import Predicate, col
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.system_fields import SEQUENCE_NUMBER, VALUE_KIND
from paimonlab.spec.types.text import parse_type
from tests.read.tables import FILE_IO, Files, fields, schema

SMALL = ReadBounds(batch_rows=3, piece_rows=5)
KEYS: dict[str, tuple[str, Any]] = {
    "int": ("INT", lambda number: number - 30),
    "bigint": ("BIGINT", lambda number: (number - 30) * 10**17),
    "tinyint": ("TINYINT", lambda number: number - 30),
    "boolean": ("BOOLEAN", lambda number: number % 2 == 0),
    "double": ("DOUBLE", lambda number: number / 7 - 4),
    "string": ("STRING", lambda number: "é" * (number % 3) + str(number)),
    "long string": ("VARCHAR(100)", lambda number: f"{'x' * 70}{number}"),
    "bytes": ("VARBINARY(9)", lambda number: bytes([number, 0])[: 1 + number % 2]),
    "decimal": ("DECIMAL(30, 2)", lambda number: Decimal(number - 30) * 10**20),
    "date": ("DATE", lambda number: number),
    "timestamp": ("TIMESTAMP(6)", lambda number: number * 10**9),
    "instant": ("TIMESTAMP(3) WITH LOCAL TIME ZONE", lambda number: number * 10**6),
}


def _sortable(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def _keyed(root: Path, key_type: str = "INT", **options: Any) -> Files:
    columns = fields(k=f"{key_type} NOT NULL", v="INT", s="INT")
    return Files(root, {0: schema(columns, primary_keys=("k",))}, ReadOptions(**options))


def _rows(split: DataSplit, files: Files, **keywords: Any) -> list[dict[str, Any]]:
    bounds = keywords.pop("bounds", None)
    plan = files.plan(
        *keywords.pop("columns", ()), where=keywords.pop("where", None), bounds=bounds
    )
    table = read_splits([split], plan, FILE_IO, **keywords).read_all()
    table.validate(full=True)
    assert table.schema == plan.arrow_schema
    return table.to_pylist()


def _row(key: Any, value: int, sequence: int, kind: RowKind = RowKind.INSERT) -> dict[str, Any]:
    return {"k": key, "v": value, "s": None, SEQUENCE_NUMBER: sequence, VALUE_KIND: int(kind)}


@pytest.mark.parametrize("name", KEYS)
def test_a_merged_read_agrees_with_a_dict(
    name: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    key_type, key_of = KEYS[name]
    for attempt in range(4):
        root = tmp_path / str(attempt)
        root.mkdir()
        mode = int(rng.integers(0, 4))
        files = _keyed(
            root,
            key_type,
            sequence_fields=("s",) if mode >= 2 else (),
            sequence_descending=mode == 3,
        )
        runs = _random_runs(rng, key_of, is_in_order=mode != 1)
        for run in runs:
            files.add(run)
        expected = _replayed(runs, mode)

        for bounds in (ReadBounds(), SMALL, ReadBounds(batch_rows=2, piece_rows=1)):
            split = files.split()
            assert _as_pairs(_rows(split, files, bounds=bounds), files) == expected, mode
            assert count_rows([split], files.plan(bounds=bounds), FILE_IO) == len(expected)


class Condition:
    """Tells of a column whether its value is one of some; remembers how many rows were asked."""

    def __init__(self, column: str, wanted: pa.Array) -> None:
        self.columns = frozenset([column])
        self._wanted = wanted
        self.asked = 0

    def is_true(self, rows: pa.RecordBatch) -> pa.Array:
        (name,) = self.columns
        self.asked += rows.num_rows
        return pc.is_in(rows.column(name), value_set=self._wanted)

    def part_over(self, names: frozenset[str]) -> Condition | None:
        return self if self.columns <= names else None


class Both:
    """Two conditions that have to be true."""

    def __init__(self, *parts: Condition) -> None:
        self.parts = parts
        self.columns = frozenset().union(*(part.columns for part in parts))

    def is_true(self, rows: pa.RecordBatch) -> pa.Array:
        one, other = (part.is_true(rows) for part in self.parts)
        return pc.and_(one, other)

    def part_over(self, names: frozenset[str]) -> Condition | None:
        return next((part for part in self.parts if part.columns <= names), None)


@pytest.mark.parametrize("name", KEYS)
def test_a_condition_leaves_out_rows_before_they_are_merged_or_after(
    name: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    key_type, key_of = KEYS[name]
    for attempt in range(3):
        root = tmp_path / str(attempt)
        root.mkdir()
        files = _keyed(root, key_type, sequence_fields=("s",) if attempt == 2 else ())
        for run in _random_runs(rng, key_of, is_in_order=bool(attempt)):
            files.add(run)
        split = files.split()
        for bounds in (ReadBounds(), SMALL):
            plan = files.plan(bounds=bounds)
            rows = pa.Table.from_batches(read_split(split, plan, FILE_IO), plan.arrow_schema)
            for column in ("k", "v"):
                values = rows.column(column).combine_chunks()
                wanted = values.filter(pa.array(rng.random(len(values)) < 0.3))
                expected = rows.filter(pc.is_in(values, value_set=wanted))
                condition = Condition(column, wanted)
                found = pa.Table.from_batches(
                    read_split(split, plan, FILE_IO, condition), plan.arrow_schema
                )
                assert found.equals(expected), (attempt, bounds, column)
                keys = rows.column("k").combine_chunks()
                few = keys.filter(pa.array(rng.random(len(keys)) < 0.5))
                both = Both(condition, Condition("k", few))
                found = pa.Table.from_batches(
                    read_split(split, plan, FILE_IO, both), plan.arrow_schema
                )
                kept = pc.is_in(expected.column("k"), value_set=few)
                assert found.equals(expected.filter(kept)), (attempt, bounds, column)
                if column == "v":
                    narrow = files.plan("v", bounds=bounds, where=col("v") > 7)
                    found = pa.Table.from_batches(
                        read_split(split, narrow, FILE_IO, condition), narrow.arrow_schema
                    )
                    above = expected.filter(pc.greater(expected.column("v"), 7))
                    assert found.equals(above.select(["v"])), (attempt, bounds)


def test_rows_that_are_gone_or_ruled_out_are_not_asked(tmp_path: Path) -> None:
    files = _keyed(tmp_path)
    files.add([_row(key, key, 0) for key in range(100)])
    files.add([_row(key, -key, 1) for key in range(50, 150)])
    condition = Condition("v", pa.array([-60, 40, 60], pa.int32()))
    rows = list(read_split(files.split(), files.plan(where=col("k") < 80), FILE_IO, condition))
    assert sorted(row["v"] for batch in rows for row in batch.to_pylist()) == [-60, 40]
    assert condition.asked == 80


def test_rows_are_merged_before_a_condition_on_values_is_looked_at(tmp_path: Path) -> None:
    """Whether keys agree on a condition says in which order that is done."""
    for engine in ("deduplicate", "first-row", "partial-update"):
        root = tmp_path / engine
        root.mkdir()
        files = _keyed(root)
        files.add([_row(1, 10, 0), _row(2, 20, 1), _row(3, 30, 2)])
        files.add([_row(2, 21, 3), _row(3, 31, 4) | {"v": None}, _row(4, 20, 5)])
        plan = structs.replace(files.plan("k", "v"), engine=MergeEngine(kind=EngineKind(engine)))
        for column, wanted in (("k", [2, 3]), ("v", [20, 21, 30])):
            rows = pa.Table.from_batches(read_split(files.split(), plan, FILE_IO))
            kept = pc.is_in(rows.column(column), value_set=pa.array(wanted, pa.int32()))
            condition = Condition(column, pa.array(wanted, pa.int32()))
            batches = read_split(files.split(), plan, FILE_IO, condition)
            found = pa.Table.from_batches(batches, plan.arrow_schema)
            assert found.equals(rows.filter(kept)), (engine, column)
            assert found.num_rows >= 2


def test_values_of_other_keys_than_a_condition_names_are_not_asked(tmp_path: Path) -> None:
    files = _keyed(tmp_path)
    files.add([_row(key, key, 0) for key in range(100)])
    files.add([_row(key, -key, 1) for key in range(50, 150)])
    of_value = Condition("v", pa.array([-60, 40, 60], pa.int32()))
    few = Both(of_value, Condition("k", pa.array([40, 60, 70], pa.int32())))
    rows = list(read_split(files.split(), files.plan(), FILE_IO, few))
    assert sorted(row["v"] for batch in rows for row in batch.to_pylist()) == [-60, 40]
    assert of_value.asked == 3


def test_keys_that_are_equal_in_two_ways_are_merged_before(tmp_path: Path) -> None:
    wanted = pa.array([0])
    for key_type in ("INT", "DOUBLE", "FLOAT"):
        plan = _keyed(tmp_path, key_type).plan()
        of_key, of_value = Condition("k", wanted), Condition("v", wanted)
        expected = of_key if key_type == "INT" else None
        for asked in (of_key, Both(of_value, of_key)):
            assert key_condition(asked, plan) is expected
        assert key_condition(of_value, plan) is None


def _random_runs(
    rng: np.random.Generator, key_of: Any, *, is_in_order: bool
) -> list[list[dict[str, Any]]]:
    runs = []
    sequence = 0
    for _ in range(int(rng.integers(1, 6))):
        numbers = rng.choice(60, size=int(rng.integers(1, 40)), replace=False).tolist()
        run = []
        for key in sorted({key_of(number) for number in numbers}, key=_sortable):
            sequence += 1
            number = sequence if is_in_order else int(rng.integers(0, 5))
            row = _row(key, sequence, number, RowKind(int(rng.integers(0, 4))))
            row["s"] = None if rng.random() < 0.2 else int(rng.integers(0, 4))
            run.append(row)
        runs.append(run)
    return runs


def _replayed(runs: list[list[dict[str, Any]]], mode: int) -> set[tuple[Any, int]]:
    """Apply the writes to a dict, one row at a time, older files first."""
    best: dict[Any, tuple[Any, dict[str, Any]]] = {}
    for run in runs:
        for row in run:
            rank: tuple[Any, ...] = (row[SEQUENCE_NUMBER],)
            if mode >= 2:
                direction = -1 if mode == 3 else 1
                is_set = row["s"] is not None
                rank = (is_set, direction * row["s"] if is_set else 0, *rank)
            if row["k"] not in best or rank >= best[row["k"]][0]:
                best[row["k"]] = (rank, row)
    retracts = (RowKind.UPDATE_BEFORE, RowKind.DELETE)
    return {(key, row["v"]) for key, (_, row) in best.items() if row[VALUE_KIND] not in retracts}


def _as_pairs(rows: list[dict[str, Any]], files: Files) -> set[tuple[Any, int]]:
    kind = files.schemas[0].arrow_schema.field("k").type
    keys = pa.array([row["k"] for row in rows], kind)
    if pa.types.is_temporal(kind):
        keys = keys.cast(pa.int64() if kind.bit_width == 64 else pa.int32())
    pairs = list(zip(keys.to_pylist(), (row["v"] for row in rows), strict=True))
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


def test_a_file_alone_is_read_without_its_deletes(tmp_path: Path) -> None:
    files = _keyed(tmp_path)
    files.add([_row(1, 10, 0), _row(2, 20, 1, RowKind.DELETE), _row(3, 30, 2)])

    assert [row["k"] for row in _rows(files.split(), files)] == [1, 3]


def test_an_unknown_number_of_deletes_is_looked_up(tmp_path: Path) -> None:
    files = _keyed(tmp_path)
    files.add([_row(1, 10, 0), _row(2, 20, 1, RowKind.DELETE)], delete_row_count=None)

    assert [row["k"] for row in _rows(files.split(), files)] == [1]


def test_files_of_one_level_are_one_run(tmp_path: Path) -> None:
    """Files of a level above 0 share no key, whatever their sequence numbers."""
    files = _keyed(tmp_path)
    files.add([_row(1, 10, 5), _row(3, 30, 1)], level=5)
    files.add([_row(4, 40, 0), _row(9, 90, 6)], level=5)
    files.add([_row(3, 31, 7), _row(4, 41, 8)])

    rows = _rows(files.split(), files, bounds=SMALL)

    assert {row["k"]: row["v"] for row in rows} == {1: 10, 3: 31, 4: 41, 9: 90}


def test_a_condition_on_values_does_not_bring_back_old_rows(tmp_path: Path) -> None:
    files = _keyed(tmp_path)
    files.add([_row(1, 10, 0), _row(2, 20, 1)])
    files.add([_row(1, 99, 2)])

    assert _rows(files.split(), files, where=col("v") == 10) == []


@pytest.mark.parametrize("bounds", [ReadBounds(), SMALL])
def test_conditions_agree_with_filtering_all_rows(tmp_path: Path, bounds: ReadBounds) -> None:
    files = _keyed(tmp_path)
    files.add([_row(key, key, key) for key in range(90)])
    files.add([_row(key, -key, 100 + key) for key in range(0, 90, 2)])
    everything = _rows(files.split(), files)
    conditions: list[tuple[Predicate, Callable[[Any], bool]]] = [
        (col("k") == 40, lambda row: row["k"] == 40),
        (col("k").is_in([3, 4, 89, 1000]), lambda row: row["k"] in (3, 4, 89)),
        (col("v") < 0, lambda row: row["v"] < 0),
        ((col("k") > 80) & (col("v") > 0), lambda row: row["k"] > 80 and row["v"] > 0),
        ((col("k") > 80) | (col("v") < -70), lambda row: row["k"] > 80 or row["v"] < -70),
        (col("s").is_not_null(), lambda row: False),
    ]
    for where, is_wanted in conditions:
        found = _rows(files.split(), files, where=where, bounds=bounds)
        counted = count_rows([files.split()], files.plan(where=where, bounds=bounds), FILE_IO)

        expected = [row for row in everything if is_wanted(row)]
        assert sorted(found, key=str) == sorted(expected, key=str), where
        assert counted == len(expected)


def test_columns_of_a_condition_need_not_be_wanted(tmp_path: Path) -> None:
    files = _keyed(tmp_path)
    files.add([_row(1, 10, 0), _row(2, 20, 1)])

    assert _rows(files.split(), files, columns=("k",), where=col("v") > 15) == [{"k": 2}]


def test_columns_come_in_the_order_asked_for(tmp_path: Path) -> None:
    files = _keyed(tmp_path)
    files.add([_row(1, 10, 0)])

    plan = files.plan("v", "k")

    assert read_splits([files.split()], plan, FILE_IO).read_all().schema.names == ["v", "k"]


def test_masks_cover_the_rows_as_they_are_in_the_files(tmp_path: Path) -> None:
    files = _keyed(tmp_path)
    files.add([_row(1, 10, 0), _row(2, 20, 1), _row(5, 50, 2)])
    files.add([_row(1, 11, 3, RowKind.DELETE), _row(2, 21, 4, RowKind.UPDATE_AFTER)])
    files.add([_row(7, 70, 5)])

    masks = winner_masks(files.split(), files.plan(where=col("k") == 7), FILE_IO)

    assert [mask.tolist() for mask in masks] == [[False, False, True], [False, True], [True]]


def test_keys_of_thin_files_are_the_value_columns(tmp_path: Path) -> None:
    files = _keyed(tmp_path)
    files.add([_row(1, 10, 0), _row(2, 20, 1)], is_thin=True)
    files.add([_row(2, 21, 2), _row(3, 31, 3)])

    rows = _rows(files.split(), files, where=col("k") >= 2)

    assert {row["k"]: row["v"] for row in rows} == {2: 21, 3: 31}


def test_a_renamed_key_is_found_in_old_files(tmp_path: Path) -> None:
    old = schema(fields(k="INT NOT NULL", v="INT"), primary_keys=("k",))
    new = schema(fields(key="INT NOT NULL", v="INT"), primary_keys=("key",), id=1)
    files = Files(tmp_path, {0: old, 1: new})
    files.add([{**_row(1, 10, 0)}, _row(2, 20, 1)])
    files.add([{"key": 2, "v": 21, SEQUENCE_NUMBER: 2, VALUE_KIND: 0}], schema_id=1)

    rows = _rows(files.split(), files, where=col("key") > 0, bounds=SMALL)

    assert {row["key"]: row["v"] for row in rows} == {1: 10, 2: 21}


def test_a_limit_cuts_the_last_batch(tmp_path: Path) -> None:
    files = _keyed(tmp_path)
    files.add([_row(key, key, key) for key in range(50)])

    assert len(_rows(files.split(), files, limit=7, bounds=SMALL)) == 7
    assert _rows(files.split(), files, limit=0) == []


@pytest.fixture
def no_file_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paimonlab.read.splits._SMALL_BYTES", 0)


def test_small_files_are_read_by_one_thread(tmp_path: Path) -> None:
    files = Files(tmp_path, {0: schema(fields(a="INT"))})
    for number in range(6):
        files.add([{"a": number}])
    together = [files.split(raw_convertible=True)]
    alone = [structs.replace(together[0], files=(file,)) for file in together[0].files]
    seen: list[tuple[int, int | None]] = []

    def done(count: int, of: int | None, _what: str) -> None:
        seen.append((count, of))
        assert threading.current_thread() is threading.main_thread()

    for splits in (alone, together):
        seen.clear()
        reader = read_splits(splits, files.plan(), FILE_IO, threads=4, progress=done)
        assert sorted(reader.read_all()["a"].to_pylist()) == list(range(6))
        assert seen == [(number, 6) for number in range(1, 7)]


@pytest.mark.usefixtures("no_file_is_small")
def test_splits_are_read_in_threads_that_end_with_the_reader(tmp_path: Path) -> None:
    files = Files(tmp_path, {0: schema(fields(a="INT"))})
    files.add([{"a": number} for number in range(100)])
    splits = [files.split(raw_convertible=True)] * 20
    before = threading.active_count()
    reader = read_splits(splits, files.plan(bounds=SMALL), FILE_IO, threads=4)

    first = reader.read_next_batch()
    del reader

    assert first.num_rows == 3
    assert threading.active_count() == before


@pytest.mark.usefixtures("no_file_is_small")
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_the_number_of_threads_changes_nothing(tmp_path: Path, threads: int) -> None:
    files = Files(tmp_path, {0: schema(fields(a="INT"))})
    for start in (0, 100, 200):
        files.add([{"a": number} for number in range(start, start + 100)])
    splits = [files.split(raw_convertible=True)] * 3

    rows = read_splits(splits, files.plan(bounds=SMALL), FILE_IO, threads=threads).read_all()

    assert sorted(rows["a"].to_pylist()) == sorted(3 * list(range(300)))


@pytest.mark.usefixtures("no_file_is_small")
@pytest.mark.parametrize("where", [None, col("a") >= 0])
def test_a_thread_that_is_free_reads_what_is_left_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: Predicate | None
) -> None:
    files = Files(tmp_path, {0: schema(fields(a="INT"))})
    files.add([{"a": number} for number in range(100)])  # 15 row groups
    others_are_read = threading.Event()
    seen: list[int] = []
    read = ParquetInput.batches

    def slow_at_first(self: ParquetInput, *args: Any, **keywords: Any) -> Iterator[pa.RecordBatch]:
        groups = list(keywords["row_groups"])
        if 0 in groups:
            assert others_are_read.wait(120), f"only {sorted(seen)} were read meanwhile"
        seen.extend(groups)
        if len(seen) == 14:
            others_are_read.set()
        yield from read(self, *args, **keywords)

    monkeypatch.setattr(ParquetInput, "batches", slow_at_first)
    plan = files.plan(where=where)
    rows = read_splits([files.split(raw_convertible=True)], plan, FILE_IO, threads=2).read_all()

    assert sorted(rows["a"].to_pylist()) == list(range(100))
    assert sorted(seen) == list(range(15))
    assert seen[-1] == 0


@pytest.mark.usefixtures("no_file_is_small")
def test_an_error_in_a_thread_reaches_the_reader(tmp_path: Path) -> None:
    files = Files(tmp_path, {0: schema(fields(a="INT"))})
    files.add([{"a": 1}])
    good = files.split(raw_convertible=True)
    files.add([{"a": 2}], row_count=5)
    bad = files.split(raw_convertible=True)

    with pytest.raises(CorruptDataError, match=r"data-1\.parquet: .*1 rows.*5.*db\.t"):
        read_splits([good, bad, good], files.plan(), FILE_IO, threads=3).read_all()


def test_counting_reads_no_value_column(tmp_path: Path) -> None:
    """A file whose value column cannot be read is counted all the same."""
    files = _keyed(tmp_path)
    files.add([_row(1, 10, 0), _row(2, 20, 1)])
    files.add([_row(2, 21, 2)])
    path = files.folder / files.metas[0].file_name
    column = pq.read_metadata(path).row_group(0).column(4)
    assert column.path_in_schema == "v"
    data = bytearray(path.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    data[start : start + column.total_compressed_size] = bytes(column.total_compressed_size)
    path.write_bytes(data)

    assert count_rows([files.split()], files.plan(), FILE_IO) == 2
    with pytest.raises(CorruptDataError, match=r"db\.t"):
        _rows(files.split(), files)


def test_partition_columns_of_a_condition_are_decided_once(tmp_path: Path) -> None:
    columns = fields(dt="STRING", v="INT")
    kinds = [parse_type("STRING")]
    files = Files(tmp_path, {0: schema(columns, partition_keys=("dt",))})
    files.partition = encode([pa.array(["mon"])], kinds)[0].as_py()
    files.add([{"dt": "mon", "v": 1}, {"dt": "mon", "v": 2}])
    split = files.split(raw_convertible=True)

    assert _rows(split, files, where=col("dt") == "tue") == []
    assert len(_rows(split, files, where=col("dt") == "mon")) == 2
    assert _rows(split, files, where=(col("dt") == "mon") & (col("v") > 1)) == [
        {"dt": "mon", "v": 2}
    ]
    assert len(_rows(split, files, where=(col("dt") == "tue") | (col("v") > 1))) == 1


def test_no_splits_are_no_rows(tmp_path: Path) -> None:
    files = _keyed(tmp_path)

    table = read_splits([], files.plan(), FILE_IO).read_all()

    assert table.num_rows == 0
    assert table.schema == files.plan().arrow_schema
    assert count_rows([], files.plan(), FILE_IO) == 0


def test_an_empty_file_is_no_rows(tmp_path: Path) -> None:
    files = Files(tmp_path, {0: schema(fields(a="INT"))})
    files.add([])

    assert _rows(files.split(raw_convertible=True), files) == []


def test_a_schema_nobody_knows_is_named(tmp_path: Path) -> None:
    files = _keyed(tmp_path)
    meta = files.add([_row(1, 10, 0)], schema_id=0)
    files.metas[0] = structs.replace(meta, schema_id=7)

    with pytest.raises(SchemaNotFoundError, match=r"db\.t: schema 7"):
        list(read_split(files.split(), files.plan(), FILE_IO))
