"""Expiry and orphan files: what is left is what Java leaves, and each reads after the other."""

from __future__ import annotations

import os
import random
import shutil
import uuid
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from tests.interop.oracle import JavaPaimon, Oracle
from tests.interop.pair import KIND, Pair
from tests.java_values import unordered

pytestmark = pytest.mark.interop

COLUMNS = {"k": "INT NOT NULL", "v": "STRING", "p": "STRING NOT NULL"}
SHAPES: dict[str, tuple[list[str], dict[str, str]]] = {
    "keyed": (["k", "p"], {"bucket": "2"}),
    "input": (["k", "p"], {"bucket": "1", "changelog-producer": "input"}),
    "lookup": (["k", "p"], {"bucket": "1", "changelog-producer": "lookup"}),
    "vectors": (["k", "p"], {"bucket": "1", "deletion-vectors.enabled": "true"}),
    "dynamic": (["k", "p"], {"bucket": "-1", "dynamic-bucket.target-row-num": "3"}),
    "append": ([], {"bucket": "-1"}),
}
EXPIRING = {
    "snapshot.num-retained.max": "3",
    "snapshot.num-retained.min": "2",
    "snapshot.time-retained": "1 ms",
    "snapshot.expire.limit": "6",
}
LONG_CHANGELOGS = {"changelog.num-retained.min": "5", "changelog.num-retained.max": "6"}


def files(warehouse: Path, name: str = "t") -> set[str]:
    """Return the files of a table, but not checksums of Java's file system."""
    root = warehouse / "db.db" / name
    found = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    return {path for path in found if not path.endswith(".crc")}


def make(pair: Pair, shape: str, seed: int, options: dict[str, str]) -> None:
    """Let Java write, compact and overwrite at random; tags here and there."""
    chance = random.Random(seed)
    keys, own = SHAPES[shape]
    pair.create(
        "java",
        "db.t",
        COLUMNS,
        pk=keys,
        partition=["p"],
        options={**own, **options, "write-only": "true"},
    )
    for number in range(14):
        step = chance.random()
        count = chance.randint(1, 4)
        data = pa.table(
            {
                "k": pa.array([chance.randint(0, 5) for _ in range(count)], pa.int32()),
                "v": [f"v{number}"] * count,
                "p": [chance.choice("ab")] * count,
                KIND: ["+I" if not keys or chance.random() < 0.7 else "-D" for _ in range(count)],
            }
        )
        if step < 0.65:
            pair.write("java", "db.t", data)
        elif step < 0.9:
            pair.java("compact", table="db.t")
        else:
            pair.java.write("db.t", [[1, "o", "a"]], overwrite={"p": "a"})
        if chance.random() < 0.2:
            latest = pair.open("db.t").snapshot
            if latest is not None:
                pair.java("tag", table="db.t", name=f"t{number}", snapshot=latest.id)


@pytest.mark.parametrize("is_long", [False, True], ids=["", "long changelogs"])
@pytest.mark.parametrize("shape", list(SHAPES))
def test_the_files_left_are_those_java_leaves(
    pair: Pair, oracle: Oracle, warehouse: Path, tmp_path: Path, shape: str, is_long: bool
) -> None:
    for seed in range(int(is_long), 2):
        make(pair, shape, seed, EXPIRING | (LONG_CHANGELOGS if is_long else {}))
        other = tmp_path / f"java{seed}"
        shutil.copytree(warehouse, other)
        javas = JavaPaimon(oracle, other)
        table = pair.open("db.t")
        for _ in range(3):
            javas("expire_by_options", table="db.t")
            table.maintenance.expire_snapshots()
            if is_long:
                table.maintenance.expire_changelogs()
            ours, theirs = files(warehouse), files(other)
            assert ours == theirs, (shape, seed, sorted(ours ^ theirs))
            for path in (path for path in ours if path.startswith(("snapshot", "changelog"))):
                root = warehouse / "db.db" / "t"
                assert (root / path).read_text() == (other / "db.db" / "t" / path).read_text()
        pair.assert_same("db.t")
        assert not table.fsck(deep=True).findings
        for name in table.tags.list():
            how = {"options": {"scan.tag-name": name}}
            assert unordered(pair.our_rows("db.t", **how)) == unordered(
                pair.java_rows("db.t", **how)
            )
        pair.java("write", table="db.t", rows=[["+I", [7, "on", "a"]]])
        pair.assert_same("db.t")
        pair.catalog.drop_table("db.t")


def test_java_finds_the_same_orphans(pair: Pair, warehouse: Path) -> None:
    make(pair, "lookup", 1, EXPIRING | LONG_CHANGELOGS)
    table = pair.open("db.t")
    table.maintenance.expire_snapshots()
    name = uuid.uuid4()
    root = warehouse / "db.db" / "t"
    junk = {
        f"p=a/bucket-0/data-{name}-0.parquet",
        f"p=b/bucket-0/changelog-{name}-0.orc",
        f"p=b/bucket-9/data-{name}-0.parquet.index",
        f"manifest/manifest-{name}-0",
        f"manifest/manifest-list-{name}-0",
        f"manifest/index-manifest-{name}-0",
        f"index/index-{name}-0",
        f"statistics/stat-{name}-0",
        f"snapshot/.snapshot-99.{name}.tmp",
    }
    for path in junk:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("junk")
    for old in root.rglob("*"):
        os.utime(old, (0, 10**9))
    limit = 1_100_000_000_000

    javas = set(pair.java("orphans", table="db.t", older_than=limit, dry_run=True))
    ours = table.maintenance.remove_orphan_files(older_than=limit, dry_run=False)

    def short(paths: Iterable[str]) -> set[str]:
        return {path.removeprefix(f"{root}/") for path in paths if not path.endswith(".crc")}

    assert short(ours.paths) == junk == short(javas)
    assert not files(warehouse) & junk
    pair.assert_same("db.t")
    pair.java("write", table="db.t", rows=[["+I", [7, "on", "a"]]])
    pair.assert_same("db.t")


@pytest.mark.every_release
@pytest.mark.parametrize("how", ["fast_forward", "rollback"])
def test_orphans_after_a_snapshot_came_from_a_tag(pair: Pair, warehouse: Path, how: str) -> None:
    """The changelog of the snapshot expired with it; both find the same, and read the same."""
    options = {"bucket": "1", "changelog-producer": "input", "write-only": "true"}
    pair.create("us", "db.t", {"k": "INT NOT NULL", "v": "STRING"}, pk=["k"], options=options)
    table = pair.open("db.t")
    for number in range(3):
        table.write({"k": [number], "v": ["x"]})
        if not number:
            table.tags.create("one")
    table.maintenance.expire_snapshots(1)
    if how == "fast_forward":
        table.branches.create("b", tag="one")
        table.on_branch("b").write({"k": [7], "v": ["b"]})
        table.branches.fast_forward("b")
    else:
        table.maintenance.rollback_to(tag="one")
    pair.write("java", "db.t", pa.table({"k": pa.array([8], pa.int32()), "v": ["java"]}))
    root = warehouse / "db.db" / "t"
    for old in root.rglob("*"):
        os.utime(old, (0, 10**9))
    limit = 1_100_000_000_000

    javas = pair.java("orphans", table="db.t", older_than=limit, dry_run=True)
    table = pair.open("db.t")
    ours = table.maintenance.remove_orphan_files(older_than=limit, dry_run=False)

    assert set(ours.paths) == {path for path in javas if not path.endswith(".crc")}
    assert ours.paths
    assert table.fsck(deep=True).findings == ()
    pair.assert_same("db.t")
    assert len(pair.our_rows("db.t")) == (3 if how == "fast_forward" else 2)


PARTITIONS: dict[str, tuple[str, dict[str, str], list[object]]] = {
    "days": ("STRING", {}, ["2020-01-01", "2020-1-2", "2020-13-01", "2999-01-01", "x", "20200101"]),
    "formatter": (
        "STRING",
        {"partition.timestamp-formatter": "yyyyMMdd"},
        ["20200101", "20200231", "20201301", "29990101", "2020-01-01", "202001011"],
    ),
    "pattern": (
        "INT",
        {
            "partition.timestamp-pattern": "$p 7",
            "partition.timestamp-formatter": "yyyyMMdd H",
        },
        [20200101, 20209901, 29990101, 7],
    ),
    "few": (
        "STRING",
        {"partition.expiration-max-num": "2"},
        ["2020-01-03", "2020-01-01", "2020-01-02"],
    ),
    "dates": ("DATE", {}, ["2020-01-01", "2999-01-01"]),
    "updates": ("STRING", {"partition.expiration-strategy": "update-time"}, ["a", "b"]),
    "optional": (
        "STRING",
        {"partition.timestamp-formatter": "yyyy/M/d[ HH:mm]"},
        ["2020/1/2", "2020/01/02 24:00", "2020/1/2 25:00", "2020/1/32", "2999/1/1"],
    ),
}


@pytest.mark.parametrize("kind", list(PARTITIONS))
def test_the_partitions_that_go_are_those_java_drops(
    pair: Pair, oracle: Oracle, warehouse: Path, tmp_path: Path, kind: str
) -> None:
    type_, options, values = PARTITIONS[kind]
    columns = {"k": "INT", "p": type_}
    pair.create("us", "db.t", columns, partition=["p"], options={"write-only": "true", **options})
    table = pair.open("db.t")
    rows = pa.table(
        {"k": pa.array(range(len(values)), pa.int32()), "p": pa.array(values)},
    )
    if type_ == "DATE":
        rows = rows.set_column(1, "p", rows["p"].cast(pa.date32()))
    if type_ == "INT":
        rows = rows.set_column(1, "p", rows["p"].cast(pa.int32()))
    table.write(rows)
    other = tmp_path / "java"
    shutil.copytree(warehouse, other)

    javas = JavaPaimon(oracle, other)
    gone = javas("expire_partitions", table="db.t", seconds=86_400)
    ours = table.maintenance.expire_partitions(timedelta(days=1))

    assert [dict(one) for one in ours.values] == gone
    assert unordered(pair.our_rows("db.t")) == unordered(javas.rows("db.t"))
    pair.assert_same("db.t")
