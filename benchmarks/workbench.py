"""What the views of a large table cost: seconds, and bytes in the notebook that keeps them.

``python -m benchmarks.workbench`` builds two tables below ``build/bench``, unless they are there,
and draws each view that takes a table, each in a process of its own: first with nothing cached,
then again. The large one has 10,000 snapshots and 100,000 data files; its manifests are real, the
data files are only named. Views that read data files get the other one: 2,000 snapshots and 5
million rows.
"""

from __future__ import annotations

import argparse
import datetime as dt
import itertools
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import paimonlab as pl
from benchmarks import workbench_rows
from paimonlab.catalog import FileSystemCatalog
from paimonlab.errors import CorruptDataError
from paimonlab.notebook import commands, views
from paimonlab.notebook.connections.connection import connect
from paimonlab.spec.binary_row.rows import encode, encode_one
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta, FileSource, SimpleStats
from paimonlab.spec.types.data_types import DataType
from paimonlab.storage.local import LocalFileIO
from paimonlab.table.committing.committers import plain_committer_of
from paimonlab.table.inside import definition_of, store_of

BUILD = Path(__file__).parents[1] / "build" / "bench"

READS_DATA = frozenset({"changes", "diff", "file", "result", "travel"})
"""Views that are drawn of the table with rows; `diff` of both."""
LARGE = "db.lake"
BUCKETS = 4
APPENDS_A_COMPACTION = 9
FILES_A_APPEND = 3
"""That an append adds to each bucket of its day."""
KEYS = 10
"""Of each new file."""
_FIRST_DAY = dt.date(2026, 1, 1)
_FIRST_MILLIS = 1_767_225_600_000


def main() -> None:
    """Parse the command line, build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--snapshots", type=int, default=10_000, help="a tenth of the files")
    parser.add_argument("--row-snapshots", type=int, default=2_000, help="of the table with rows")
    parser.add_argument("--rows", type=int, default=5_000_000, help="written into it")
    parser.add_argument("--views", nargs="+", default=_kinds(), choices=_kinds())
    parser.add_argument("--one", metavar="VIEW", help="measure one view in this process")
    options = parser.parse_args()
    large = BUILD / f"workbench-{options.snapshots}"
    small = BUILD / f"workbench-rows-{options.row_snapshots}-{options.rows}"
    if options.one:
        _measure(large, LARGE, options.one)
        if options.one in READS_DATA:
            _measure(small, workbench_rows.TABLE, options.one)
        return
    build(large, lambda: _build(large, options.snapshots))
    if READS_DATA & set(options.views):
        build(small, lambda: workbench_rows.build_rows(small, options.row_snapshots, options.rows))
    for kind in options.views:
        command = [sys.executable, "-m", "benchmarks.workbench", "--one", kind]
        sizes = ["--snapshots", str(options.snapshots), "--rows", str(options.rows)]
        more = ["--row-snapshots", str(options.row_snapshots)]
        subprocess.run([*command, *sizes, *more], check=True)


def build(folder: Path, make: Callable[[], None]) -> None:
    """Make a table that is not there."""
    done = folder / "done"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        start = time.perf_counter()
        make()
        done.touch()
        print(f"built {folder} in {time.perf_counter() - start:.0f} s", flush=True)


def _build(folder: Path, snapshots: int) -> None:
    """Make the large table: a tenth as many snapshots as data files.

    Days one after the other, four buckets each; nine appends, then one bucket is compacted.
    """
    catalog = FileSystemCatalog(str(folder), LocalFileIO(durability="none"))
    catalog.create_database("db")
    table = catalog.create_table(
        LARGE,
        {"dt": "STRING NOT NULL", "id": "BIGINT NOT NULL", "v": "STRING"},
        primary_keys=["dt", "id"],
        partition_keys=["dt"],
        options={"bucket": str(BUCKETS), "write-only": "true"},
    )
    committer = plain_committer_of(definition_of(table).options, store_of(table))
    changes = _changes([field.type for field in table.schema.fields])
    for number, messages in zip(range(snapshots), changes, strict=False):
        # Nobody else writes, and the names are new: there is no conflict to look for.
        committer.append(messages, user="loader", identifier=number + 1, checked_id=number)


def _changes(types: Sequence[DataType]) -> Iterator[list[CommitMessage]]:
    """Yield what each commit changes, for ever."""
    drawn = random.Random(7)
    appends = APPENDS_A_COMPACTION * BUCKETS
    for day in itertools.count():
        name = str(_FIRST_DAY + dt.timedelta(days=day))
        partition = encode_one([pa.scalar(name)], types[:1])
        buckets = [_Bucket(name, day, bucket, drawn, types) for bucket in range(BUCKETS)]
        for number in range(1, appends + 1):
            yield [one.append(partition) for one in buckets]
            if number % APPENDS_A_COMPACTION == 0:
                one = buckets[number // APPENDS_A_COMPACTION - 1]
                yield [one.compaction(partition)]


class _Bucket:
    """The files of a bucket, one behind the other by key."""

    def __init__(
        self, day: str, number: int, bucket: int, drawn: random.Random, types: Sequence[DataType]
    ) -> None:
        count = FILES_A_APPEND * APPENDS_A_COMPACTION * BUCKETS
        first = np.arange(count, dtype=np.int64) * KEYS
        self.bucket = bucket
        self._lows = _rows(day, first, types)
        self._highs = _rows(day, first + KEYS - 1, types)
        self._number = (number * BUCKETS + bucket) * (count + 1)
        self._drawn = drawn
        self._files: list[DataFileMeta] = []

    def append(self, partition: bytes) -> CommitMessage:
        """Add some files."""
        size = int(self._drawn.lognormvariate(16, 1.5)) * (self.bucket + 1)
        begin = len(self._files)
        new = tuple(self._file(at, at, size) for at in range(begin, begin + FILES_A_APPEND))
        self._files += new
        return CommitMessage(
            partition=partition, bucket=self.bucket, total_buckets=BUCKETS, new_files=new
        )

    def compaction(self, partition: bytes) -> CommitMessage:
        """Let one file take the place of the oldest."""
        before = tuple(self._files[:APPENDS_A_COMPACTION])
        size = sum(file.file_size_bytes for file in before)
        return CommitMessage(
            partition=partition,
            bucket=self.bucket,
            total_buckets=BUCKETS,
            compact_before=before,
            compact_after=(self._file(0, len(before) - 1, size, level=5),),
        )

    def _file(self, first: int, last: int, size_bytes: int, *, level: int = 0) -> DataFileMeta:
        (low, min_key), (high, max_key) = self._lows[first], self._highs[last]
        number = self._number + (len(self._lows) if level else first)
        return DataFileMeta(
            file_name=f"data-{number:08x}-0000-4000-8000-{number:012x}-0.parquet",
            file_size_bytes=size_bytes,
            row_count=KEYS * (last - first + 1),
            min_key=min_key,
            max_key=max_key,
            key_stats=SimpleStats(min_key, max_key, (0,)),
            value_stats=SimpleStats(low, high, (0, 0, 0)),
            min_sequence_number=KEYS * first,
            max_sequence_number=KEYS * last + KEYS - 1,
            schema_id=0,
            level=level,
            creation_time_millis=_FIRST_MILLIS + 1000 * number,
            delete_row_count=0,
            file_source=FileSource.COMPACT if level else FileSource.APPEND,
        )


def _rows(
    day: str, ids: npt.NDArray[np.int64], types: Sequence[DataType]
) -> list[tuple[bytes, bytes]]:
    """Encode one row for each id, and its key."""
    columns = [pa.array([day] * len(ids)), pa.array(ids), pa.array([f"v{one}" for one in ids])]
    rows, keys = encode(columns, types), encode(columns[1:2], types[1:2])
    return list(zip(rows.to_pylist(), keys.to_pylist(), strict=True))


def _kinds() -> list[str]:
    return [str(value.__struct_config__.tag) for value in views.INTERACTIVE]


def _measure(folder: Path, name: str, kind: str) -> None:
    """Draw a view twice, and print what that took."""
    table = pl.connect(str(folder)).table(name)
    assert isinstance(table, pl.Table)
    if kind == "result":
        connect(str(folder), engine="native")
    if name == LARGE and kind in READS_DATA - {"diff"}:
        return
    for what, draw in _drawings(folder, table, kind):
        times = []
        bundle: dict[str, Any] = {}
        for _ in range(2):
            start, busy = time.perf_counter(), time.process_time()
            try:
                bundle = draw()._repr_mimebundle_()
            except CorruptDataError:
                print(f"{kind}: reads data files, which are only named here")
                return
            wall, busy = time.perf_counter() - start, time.process_time() - busy
            times.append(f"{wall:.2f} s ({busy:.2f} s of a processor)")
        sizes = ", ".join(f"{part} {len(_bytes(one)):,}" for part, one in bundle.items())
        print(f"{what}: {times[0]}, again {times[1]}; bytes: {sizes}", flush=True)


def _drawings(folder: Path, table: pl.Table, kind: str) -> list[tuple[str, Callable[[], Any]]]:
    """Name what is drawn of a view, and how."""
    newest = 0 if table.snapshot is None else table.snapshot.id
    show: Any = table.show
    if kind == "result":
        sqls = (f"SELECT * FROM {table.name}", f"SELECT count(*) FROM {table.name}")
        return [(sql, partial(commands.sql, sql)) for sql in sqls]
    if kind == "diff":
        ranges = ((1, newest), (newest - 10, newest))
        return [(f"diff {one} of {table.name}", partial(show.diff, *one)) for one in ranges]
    if kind == "changes":
        ranges = ((newest - 1, newest), (newest - 10, newest))
        return [(f"changes {one}", partial(show.changes, *one)) for one in ranges]
    if kind == "file":
        listed = (
            pl.connect(str(folder))
            .system_table(f"{table.name}$files")
            .scan()
            .to_arrow()
            .to_pylist()
        )
        files = sorted(listed, key=lambda one: int(one["record_count"]))
        return [
            (f"file of {one['record_count']:,} rows", partial(show.file, _name(one["file_path"])))
            for one in (files[0], files[-1])
        ]
    if kind == "travel":
        sums = partial(show.travel, sql="count(*), sum(amount)")
        return [("travel", show.travel), ("travel --sql", sums)]
    draw = getattr(show, kind, None)
    if draw is None:
        print(f"{kind}: takes no table")
    return [] if draw is None else [(kind, draw)]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _bytes(part: object) -> bytes:
    return part.encode() if isinstance(part, str) else json.dumps(part).encode()


if __name__ == "__main__":
    main()
