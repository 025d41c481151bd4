"""MERGE and full compaction by Spark at two sizes, on executors of their own.

Each size runs in a new process with two executors (``local-cluster``), so that the memory of the
driver is apart from that of the executors. The CPU is that of the whole process tree.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.growth.row import GrowthRow, numbers_of_new_process
from benchmarks.spark_scan import tree_cpu_seconds

SIZES = (5_000_000, 50_000_000)
_BUCKETS = 8
_DRIVER_MEMORY = "1g"
_EXECUTOR_MB = 2048
_TABLE = "paimon.default.t"
_ROWS = "(id * 7919) % {modulus} k, id * 0.5D v, concat('s', id % 99991) s"
_MERGE = f"""
MERGE INTO {_TABLE} t USING source s ON t.k = s.k
WHEN MATCHED THEN UPDATE SET v = s.v, s = s.s WHEN NOT MATCHED THEN INSERT *
"""


@dataclass(frozen=True)
class Memory:
    """Most memory that processes had resident, bytes."""

    python: int
    """The driver's Python."""
    jvm: int
    """The driver's JVM."""
    executor: int
    """The largest JVM of an executor."""
    worker: int
    """The largest of all other processes: Python workers."""


def rows() -> Iterator[GrowthRow]:
    """Merge a tenth of the rows, nine of ten of them known, then compact the table."""
    found = [numbers_of_new_process("benchmarks.growth.spark_sizes", size) for size in SIZES]
    sizes = tuple(f"{size // 10**6} M rows" for size in SIZES)
    for work, number in (("MERGE of a tenth of the rows", 0), ("full compaction", 1)):
        costs = tuple(
            1e6 * numbers[number] / size for numbers, size in zip(found, SIZES, strict=True)
        )
        yield GrowthRow(
            work=f"{work} by Spark, {_BUCKETS} buckets, a row of the table",
            sizes=sizes,
            costs=costs,
            unit="CPU µs",
            goal="within 15 % of each other",
            holds=costs[-1] <= 1.15 * costs[0],
        )
    memory = [Memory(*map(int, numbers[2:])) for numbers in found]
    peaks = tuple((one.python + one.jvm) / 2**20 for one in memory)
    yield GrowthRow(
        work="the same two, memory of the driver: Python and a JVM of 1 GB",
        sizes=sizes,
        costs=peaks,
        unit="MB at most",
        goal="at most 1.15 times",
        holds=peaks[-1] <= 1.15 * peaks[0],
    )
    peaks = tuple((one.executor + one.worker) / 2**20 for one in memory)
    yield GrowthRow(
        work="the same two, memory of the largest executor of 2 GB and of its largest worker",
        sizes=sizes,
        costs=peaks,
        unit="MB at most",
        goal="at most 3 GB",
        holds=peaks[-1] <= 3 << 10,
    )


def main(size: int) -> None:
    """Print the CPU seconds of both works, and the memory of processes."""
    from paimonlab.spark import connect  # noqa: PLC0415 - only in a process of its own

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory(prefix="paimonlab-bench-") as folder:
        conf = {"spark.executor.memory": f"{_EXECUTOR_MB}m"}
        cluster = f"local-cluster[2,1,{_EXECUTOR_MB}]"
        spark = connect(folder, master=cluster, memory=_DRIVER_MEMORY, conf=conf)
        options = f"'primary-key' = 'k', 'bucket' = '{_BUCKETS}', 'write-only' = 'true'"
        spark.sql(f"CREATE TABLE {_TABLE} (k BIGINT, v DOUBLE, s STRING) TBLPROPERTIES ({options})")
        modulus = size + 3
        spark.range(0, size, 1, 2).selectExpr(
            *_ROWS.format(modulus=modulus).split(", ", 2)
        ).writeTo(_TABLE).append()
        source = spark.range(0, size // 10, 1, 2).selectExpr(
            f"(id * 7919) % {modulus} + if(id % 10 = 0, {2 * modulus}L, 0L) k",
            "id * 0.25D v",
            "concat('n', id % 99991) s",
        )
        source.write.parquet(str(Path(folder) / "source"))
        spark.read.parquet(str(Path(folder) / "source")).createOrReplaceTempView("source")
        seconds = []
        for statement in (
            _MERGE,
            f"CALL paimon.sys.compact(table => '{_TABLE.partition('.')[2]}')",
        ):
            before = tree_cpu_seconds(os.getpid())
            spark.sql(statement).collect()
            seconds.append(tree_cpu_seconds(os.getpid()) - before)
        count = spark.table(_TABLE).count()
        assert count == size + size // 100, f"{count} rows of {size}"
        memory = _memory(os.getpid())
        spark.stop()
    print(*seconds, memory.python, memory.jvm, memory.executor, memory.worker)


def _memory(driver: int) -> Memory:
    parents, peaks, commands = dict[int, int](), dict[int, int](), dict[int, str]()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "status").read_text()
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (FileNotFoundError, ProcessLookupError):
                continue
            fields = dict(line.partition(":\t")[::2] for line in status.splitlines())
            number = int(entry.name)
            parents[number], commands[number] = int(fields["PPid"]), command
            peaks[number] = int(fields.get("VmHWM", "0 kB").split()[0]) * 1024
    tree = [driver]
    for process in tree:  # grows while it is walked
        tree += [child for child, parent in parents.items() if parent == process]
    executors = [one for one in tree if "CoarseGrainedExecutorBackend" in commands[one]]
    jvm = next(one for one in tree[1:] if "java" in commands[one] and one not in executors)
    workers = [one for one in tree[1:] if one not in executors and one != jvm]
    return Memory(
        peaks[driver],
        peaks[jvm],
        max((peaks[one] for one in executors), default=0),
        max((peaks[one] for one in workers), default=0),
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
