"""A table in a store behind a slow link: a scan beside plain ranged GETs of the same bytes.

``python -m benchmarks.remote [millions of rows] [latency in ms] [MB a second]`` prints seconds on the clock.
The server, a process of its own, shares the machine. Plain GETs are what ``obstore`` does with
ranges of 8 MiB, 16 at a time, and nothing decoded.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import obstore
import pyarrow as pa
from obstore.store import S3Store

import paimonlab as pm
from benchmarks.rows import SCHEMA, SEED, rows
from paimonlab.formats.parquet.footers import shared_footers

ROUNDS = 3
RANGE_BYTES = 8 << 20
AT_ONCE = 16
_PIECE_ROWS = 2_000_000


def main(millions: str = "36", latency: str = "30", megabytes: str = "125") -> None:
    """Write a table, then read it over the link."""
    with tempfile.TemporaryDirectory(prefix="paimonlab-bench-") as folder:
        make_table(Path(folder), int(millions))
        make_many_files(Path(folder))
        with serving(folder, latency, megabytes) as url:
            measure(url, Path(folder))
            plans(url)


def make_table(folder: Path, millions: int) -> None:
    """Write an append table."""
    catalog = pm.connect(folder)
    catalog.create_database("db")
    random = np.random.default_rng(SEED)

    def pieces() -> Iterator[pa.RecordBatch]:
        for start in range(0, millions * 1_000_000, _PIECE_ROWS):
            keys = np.arange(start, start + _PIECE_ROWS)
            yield from rows(keys, random).to_batches()

    table = catalog.create_table("db.t", SCHEMA)
    table.write(pa.RecordBatchReader.from_batches(SCHEMA, pieces()))


def make_many_files(folder: Path) -> None:
    """Write a table of 10,000 files in 100 commits."""
    catalog = pm.connect(folder)
    table = catalog.create_table("db.many", {"p": "INT", "v": "BIGINT"}, partition_keys=["p"])
    for turn in range(100):
        keys = pa.array(range(100), pa.int32())
        table.write(pa.table({"p": keys, "v": pa.array([turn] * 100, pa.int64())}))


def plans(url: str) -> None:
    """Print what plans of 10,000 files take: nothing known, then again."""
    options = {"s3.endpoint": url, "s3.access-key": "a", "s3.secret-key": "b"}
    catalog = pm.connect({"warehouse": "s3://b/", "read-only": "true", **options})
    table = catalog.table("db.many")
    for name in ("plan of 10,000 files, nothing known", "the same again"):
        before, start = counts(url), time.perf_counter()
        files = sum(len(split.files) for split in table.scan().plan().splits)
        took, after = time.perf_counter() - start, counts(url)
        print(f"{name}: {took:.2f} s, {after[0] - before[0]} requests, {files:,} files")


@contextmanager
def serving(folder: str, latency: str, megabytes: str) -> Iterator[str]:
    """Start the server; yield its address."""
    command = [sys.executable, "-m", "benchmarks.remote_server", folder, "b", latency, megabytes]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as it:
        assert it.stdout is not None
        yield it.stdout.readline().strip()
        assert it.stdin is not None
        it.stdin.close()


def counts(url: str) -> tuple[int, int]:
    """Return how many requests and bytes there were."""
    with urlopen(f"{url}/counts") as answer:
        requests, size = answer.read().split()
    return int(requests), int(size)


def measure(url: str, folder: Path) -> None:
    """Print what each way takes."""
    options = {"s3.endpoint": url, "s3.access-key": "a", "s3.secret-key": "b"}
    # A store that is only read is not asked for conditions.
    catalog = pm.connect({"warehouse": "s3://b/", "read-only": "true", **options})
    files = sorted((folder / "db.db" / "t").rglob("*.parquet"))
    store = S3Store(
        "b",
        endpoint=url,
        access_key_id="a",
        secret_access_key="b",
        region="us-east-1",
        client_options={"allow_http": True},
    )
    ranges = [
        (file.relative_to(folder).as_posix(), start, min(start + RANGE_BYTES, file.stat().st_size))
        for file in files
        for start in range(0, file.stat().st_size, RANGE_BYTES)
    ]

    def plain() -> int:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            fetched = pool.map(
                lambda one: len(obstore.get_range(store, one[0], start=one[1], end=one[2])), ranges
            )
            return sum(fetched)

    def scanned() -> int:
        shared_footers.clear()
        reader = catalog.table("db.t").scan().to_batches()
        return sum(batch.num_rows for batch in reader)

    size = sum(file.stat().st_size for file in files)
    print(f"{size / 2**30:.2f} GiB in {len(files)} files")
    seconds: dict[str, list[float]] = {"plain ranged GETs": [], "scan": []}
    works: dict[str, Callable[[], int]] = {"plain ranged GETs": plain, "scan": scanned}
    for _ in range(ROUNDS):
        for name, work in works.items():
            before, cpu, start = counts(url), time.process_time(), time.perf_counter()
            work()
            took, after = time.perf_counter() - start, counts(url)
            seconds[name].append(took)
            print(
                f"{name}: {took:.2f} s, {time.process_time() - cpu:.2f} CPU s, "
                f"{after[0] - before[0]} requests, {(after[1] - before[1]) / 2**20:.0f} MiB, "
                f"{size / took / 1e6:.0f} MB/s"
            )
    best = {name: statistics.median(of) for name, of in seconds.items()}
    share = best["plain ranged GETs"] / best["scan"]
    print(f"the scan has {share:.0%} of the rate of plain GETs")


if __name__ == "__main__":
    main(*sys.argv[1:])
