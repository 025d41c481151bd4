"""Dynamic and postponed buckets under the hands of both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.table.inside import store_of
from tests.interop.pair import KIND, SIDES, Pair, Side, skip_where_values_stay

pytestmark = pytest.mark.interop

COLUMNS = {"p": "STRING NOT NULL", "k": "INT NOT NULL", "v": "STRING"}
DYNAMIC = {"bucket": "-1", "dynamic-bucket.target-row-num": "7", "write-only": "true"}


def random_keys(rng: np.random.Generator, turn: int, kinds: bool = True) -> pa.Table:
    keys = rng.integers(0, 25 + 5 * turn, 30)
    found = {
        "p": rng.choice(["x", "y z"], 30).tolist(),
        "k": pa.array(keys, pa.int32()),
        "v": [f"{turn}-{number}" for number in range(30)],
    }
    if kinds:
        found[KIND] = rng.choice(["+I", "+U", "-D"], 30, p=[0.6, 0.2, 0.2]).tolist()
    return pa.table(found)


def index_counts(pair: Pair) -> dict[Any, int]:
    """Return how many keys the index of each bucket has, and check that each stays in one."""
    table = pair.open("db.t")
    snapshot = table.snapshot
    assert snapshot is not None
    assert snapshot.index_manifest is not None
    entries = store_of(table).manifests.read_index(snapshot.index_manifest)
    assert len({(one.partition, one.bucket) for one in entries}) == len(entries)
    return {(one.partition, one.bucket): one.row_count for one in entries}


@pytest.mark.parametrize("first", SIDES)
@pytest.mark.parametrize("options", [{}, {"dynamic-bucket.max-buckets": "2"}], ids=str)
def test_keys_of_dynamic_buckets_stay_where_either_put_them(
    pair: Pair, first: Side, options: dict[str, str], rng: np.random.Generator
) -> None:
    pair.create(first, "db.t", COLUMNS, pk=["p", "k"], partition=["p"], options=DYNAMIC | options)
    second: Side = "java" if first == "us" else "us"
    known: dict[tuple[str, int], str] = {}

    for turn, side in enumerate((first, second, first, second)):
        rows = random_keys(rng, turn)
        pair.write(side, "db.t", rows)
        for row in rows.to_pylist():
            known.pop((row["p"], row["k"]), None)
            if row[KIND] != "-D":
                known[row["p"], row["k"]] = row["v"]
        pair.assert_same("db.t")
        found = {(p, k): v for p, k, v in pair.our_rows("db.t")}
        assert found == known
        assert len(found) == len(pair.our_rows("db.t"))

    counts = index_counts(pair)
    assert sum(counts.values()) >= len(known)
    assert max(counts.values()) <= 7 or options
    pair.java("compact", table="db.t")
    pair.assert_same("db.t")
    pair.write("us", "db.t", random_keys(rng, 9))
    pair.assert_same("db.t")


def test_our_buckets_are_those_java_would_have_chosen(pair: Pair) -> None:
    tables = {}
    for side in SIDES:
        pair.create(side, f"db.{side}", COLUMNS, pk=["p", "k"], partition=["p"], options=DYNAMIC)
        for first in (0, 13, 26):
            keys = pa.array(range(first, first + 20), pa.int32())
            texts = [str(key) for key in range(20)]
            pair.write(side, f"db.{side}", pa.table({"p": ["x"] * 20, "k": keys, "v": texts}))
        rows = pair.java.rows(f"db.{side}$files")
        tables[side] = sorted((row[1], row[6], row[8], row[9]) for row in rows)
    assert tables["us"] == tables["java"]


@pytest.fixture
def _kept_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the places of keys from write to write however few they are."""
    monkeypatch.setattr("paimonlab.table.writing.known_places._LEAST_ROWS", 0)


ACROSS = {"p": "STRING", "k": "INT NOT NULL", "v": "STRING"}


@pytest.mark.usefixtures("_kept_places")
@pytest.mark.parametrize("first", SIDES)
def test_keys_move_across_partitions_under_both_hands(
    pair: Pair, first: Side, rng: np.random.Generator
) -> None:
    options = {"bucket": "-1", "dynamic-bucket.target-row-num": "5", "write-only": "true"}
    pair.create(first, "db.t", ACROSS, pk=["k"], partition=["p"], options=options)
    second: Side = "java" if first == "us" else "us"
    known: dict[int, tuple[str, str]] = {}

    for turn, side in enumerate((first, second, first, second)):
        rows = random_keys(rng, turn)
        pair.write(side, "db.t", rows)
        for row in rows.to_pylist():
            known.pop(row["k"], None)
            if row[KIND] != "-D":
                known[row["k"]] = (row["p"], row["v"])
        pair.assert_same("db.t")
        assert {k: (p, v) for p, k, v in pair.our_rows("db.t")} == known
        assert len(pair.our_rows("db.t")) == len(known)

    pair.java("compact", table="db.t")
    pair.assert_same("db.t")
    pair.write("us", "db.t", random_keys(rng, 9))
    pair.assert_same("db.t")


ENGINES: dict[str, dict[str, str]] = {
    "first-row": {},
    "first-row, ignoring": {"ignore-delete": "true"},
    "partial-update": {},
    "partial-update, removing": {"partial-update.remove-record-on-delete": "true"},
    "aggregation": {"fields.v.aggregate-function": "sum"},
    "aggregation, removing": {
        "fields.v.aggregate-function": "sum",
        "aggregation.remove-record-on-delete": "true",
    },
}
ROW = {"p": "STRING", "k": "INT NOT NULL", "v": "INT", "w": "STRING"}


@dataclass
class KeysAtHome:
    """What a table holds whose merge engine leaves a key in the partition where it was first."""

    engine: str
    rows: dict[int, list[Any]] = field(default_factory=dict)

    def write(self, rows: list[dict[str, Any]]) -> None:
        """Take the rows of one commit.

        A key removed by it still has its partition. Rows of a key are merged in the file first,
        so that what comes behind a delete is added to what was there before.
        """
        homes = {key: row[0] for key, row in self.rows.items()}
        file: dict[int, list[Any] | None] = {}
        for row in rows:
            key, value = row["k"], [homes.setdefault(row["k"], row["p"]), row["v"], row["w"]]
            if row[KIND] == "-D":
                file[key] = None
            else:
                file[key] = self._merged(file.get(key), value)
        for key, merged in file.items():
            if merged is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = self._merged(self.rows.get(key), merged)

    def _merged(self, old: list[Any] | None, new: list[Any]) -> list[Any]:
        if old is None:
            return new
        if self.engine.startswith("first-row"):
            return old
        adds = self.engine.startswith("aggregation") and None not in (old[1], new[1])
        merged = [old[i] if new[i] is None else new[i] for i in range(3)]
        return [old[0], old[1] + new[1] if adds else merged[1], merged[2]]


def random_changes(rng: np.random.Generator, turn: int, deletes: bool) -> pa.Table:
    rows = random_keys(rng, turn, kinds=False)
    numbers = [None if one > 90 else int(one) for one in rng.integers(0, 100, len(rows))]
    texts = [None if rng.random() < 0.3 else text for text in rows["v"].to_pylist()]
    kinds = rng.choice(
        ["+I", "+U", "-D"], len(rows), p=[0.5, 0.2, 0.3] if deletes else [0.7, 0.3, 0]
    )
    return pa.table(
        {
            "p": [None if one == "x" else one for one in rows["p"].to_pylist()],
            "k": rows["k"],
            "v": pa.array(numbers, pa.int32()),
            "w": texts,
            KIND: kinds.tolist(),
        }
    )


def without_traps(rows: pa.Table, model: KeysAtHome) -> pa.Table:
    """Leave deletes out that Java takes for something else.

    It remembers the partition of a row that it ignores, and makes an insert of a delete that it
    takes to another partition.
    """
    homes = {key: row[0] for key, row in model.rows.items()}
    kept = []
    for row in rows.to_pylist():
        is_delete = row[KIND] == "-D"
        kept.append(
            not is_delete
            or ("ignoring" not in model.engine and homes.get(row["k"], row["p"]) == row["p"])
        )
        if kept[-1]:
            homes.setdefault(row["k"], row["p"])
    return rows.filter(pa.array(kept))


@pytest.mark.usefixtures("_kept_places")
@pytest.mark.parametrize("first", SIDES)
@pytest.mark.parametrize("engine", ENGINES)
def test_keys_stay_at_home_under_both_hands(
    pair: Pair, engine: str, first: Side, rng: np.random.Generator
) -> None:
    options = {
        "bucket": "-1",
        "dynamic-bucket.target-row-num": "5",
        "write-only": "true",
        "merge-engine": engine.partition(",")[0],
        **ENGINES[engine],
    }
    skip_where_values_stay(pair, options)
    pair.create(first, "db.t", ROW, pk=["k"], partition=["p"], options=options)
    second: Side = "java" if first == "us" else "us"
    model, ignores = KeysAtHome(engine), engine.endswith("ignoring")

    for turn, side in enumerate((first, second, first, second)):
        rows = random_changes(rng, turn, deletes="," in engine)
        if side == "java":
            rows = without_traps(rows, model)
        pair.write(side, "db.t", rows)
        model.write([row for row in rows.to_pylist() if row[KIND] != "-D" or not ignores])
        if engine.startswith("first-row"):
            pair.java("compact", table="db.t")  # Java looks for keys in compacted files only
        pair.assert_same("db.t")
        assert {k: [p, v, w] for p, k, v, w in pair.our_rows("db.t")} == model.rows
        assert len(pair.our_rows("db.t")) == len(model.rows)


@pytest.mark.parametrize("first", SIDES)
def test_rows_wait_until_a_compaction_gives_them_buckets(
    pair: Pair, first: Side, rng: np.random.Generator
) -> None:
    pair.create(first, "db.t", COLUMNS, pk=["p", "k"], partition=["p"], options={"bucket": "-2"})
    second: Side = "java" if first == "us" else "us"
    known: dict[tuple[str, int], str] = {}

    for turn, side in enumerate((first, second, first)):
        before = pair.our_rows("db.t")
        rows = random_keys(rng, turn)
        pair.write(side, "db.t", rows)
        for row in rows.to_pylist():
            known.pop((row["p"], row["k"]), None)
            if row[KIND] != "-D":
                known[row["p"], row["k"]] = row["v"]
        assert sorted(pair.our_rows("db.t")) == sorted(before)
        pair.assert_same("db.t")
        if turn:
            pair.java("compact_postponed", table="db.t", buckets=turn + 1)
            assert {(p, k): v for p, k, v in pair.our_rows("db.t")} == known
            pair.assert_same("db.t")

    table = pair.open("db.t")
    assert {split.total_buckets for split in table.scan().plan().splits} == {2}


@pytest.mark.parametrize(
    "options",
    [{}, {"changelog-producer": "lookup"}, {"deletion-vectors.enabled": "true"}],
    ids=str,
)
def test_rows_that_wait_get_buckets_from_either(
    pair: Pair, options: dict[str, str], rng: np.random.Generator
) -> None:
    given = {"bucket": "-2", "postpone.default-bucket-num": "2", **options}
    pair.create("java", "db.t", COLUMNS, pk=["p", "k"], partition=["p"], options=given)
    known: dict[tuple[str, int], str] = {}

    for turn, compactor in enumerate(("us", "java", "us", "us")):
        for side in rng.permutation(SIDES):
            rows = random_keys(rng, turn)
            pair.write(side, "db.t", rows)
            for row in rows.to_pylist():
                known.pop((row["p"], row["k"]), None)
                if row[KIND] != "-D":
                    known[row["p"], row["k"]] = row["v"]
        if compactor == "us":
            pair.open("db.t").compact(full=turn == 3)
        else:
            pair.java("compact_postponed", table="db.t", buckets=2)
        assert {(p, k): v for p, k, v in pair.our_rows("db.t")} == known
        pair.assert_same("db.t")

    table = pair.open("db.t")
    assert {split.total_buckets for split in table.scan().plan().splits} == {2}
    assert table.fsck(deep=True).findings == ()


def test_java_reads_the_changelog_we_write(pair: Pair, rng: np.random.Generator) -> None:
    options = {"bucket": "2", "changelog-producer": "input"}
    pair.create("us", "db.t", COLUMNS, pk=["p", "k"], partition=["p"], options=options)
    wanted = []
    for turn, side in enumerate(SIDES):
        rows = random_keys(rng, turn)
        pair.write(side, "db.t", rows)
        wanted += [(row[KIND], row["p"], row["k"], row["v"]) for row in rows.to_pylist()]
    latest = pair.open("db.t").snapshot
    assert latest is not None

    between = {
        "incremental-between": f"0,{latest.id}",
        "incremental-between-scan-mode": "changelog",
    }
    javas = pair.java("read", table="db.t$audit_log", options=between)
    ours = pair.open("db.t").changes(0, latest.id, mode="changelog").to_arrow()

    assert sorted(tuple(row.values()) for row in ours.to_pylist()) == sorted(wanted)
    assert sorted(tuple(row) for _, row in javas) == sorted(wanted)
    pair.assert_same("db.t")
