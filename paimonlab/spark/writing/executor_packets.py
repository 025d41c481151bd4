"""Rows that pass to the tasks that write them, or find their buckets, in packets, as columns.

Spark shuffles rows one by one: it takes the columns of a file apart, and puts rows together to
columns again. Here tasks that have rows as columns divide them by who takes them, and Spark
shuffles the bytes. These are cut into parts, none of which has more bytes than a row may have
of a batch, so that no batch outgrows its bytes, whether Spark looks at them or not (`small_rows`).
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark import TaskContext

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import PaimonError
from paimonlab.spark.writing.executor_small_rows import Task
from paimonlab.spec.buckets.bucket import bucket_ids
from paimonlab.write.gathering import taken
from paimonlab.write.write_plan import WritePlan

SHARE, SENDER, PACKET, PART, PARTS, ROWS = "share", "sender", "packet", "part", "parts", "rows"
"""Columns of the shuffle."""
PACKETS = f"{SHARE} int, {SENDER} int, {PACKET} int, {PART} int, {PARTS} int, {ROWS} binary"
_PLACES = (SHARE, SENDER, PACKET, PART, PARTS)
_SCHEMA = pa.schema([*((name, pa.int32()) for name in _PLACES), (ROWS, pa.binary())])
_FAILED = -1
"""Number of the packet that has an error in the place of rows."""
HELD_BYTES = 16 << 20
"""Bytes of rows that a task gathers before it divides them."""


class Shares(Protocol):
    """Says which task takes which rows; picklable."""

    @property
    def count(self) -> int:
        """How many tasks there are, fewer than 2^15."""

    def shares_of(self, rows: pa.RecordBatch) -> npt.NDArray[np.integer[Any]] | None:
        """Return the number of the task of each row; None: there is one task."""


@dataclass(frozen=True, slots=True)
class OneShare:
    """All rows go to one task."""

    count: int = 1

    def shares_of(self, rows: pa.RecordBatch) -> None:
        """Return nothing."""


@dataclass(frozen=True, slots=True)
class BucketShares:
    """The task of bucket b is number b modulo the number of tasks."""

    plan: WritePlan
    count: int
    column: str | None = None
    """What says the bucket of each row; None: its key does."""

    def shares_of(self, rows: pa.RecordBatch) -> npt.NDArray[np.integer[Any]]:
        """Find the buckets."""
        if self.column is not None:
            return numpy_values(rows.column(self.column)) % self.count
        schema = self.plan.schema
        keys = [schema.field(name) for name in schema.bucket_keys]
        return bucket_ids(rows, keys, self.plan.buckets, schema.bucket_function) % self.count


@dataclass(frozen=True, slots=True)
class Packing:
    """Divides rows by who takes them; picklable."""

    shares: Shares
    part_bytes: int
    """Of each row of the shuffle, at most."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the parts of packets."""
        sender = _sender()
        try:
            for number, rows in enumerate(gathered(batches)):
                yield from self._packets(rows, sender, number)
        except PaimonError as error:
            for _ in batches:  # Spark's side must be read to its end
                pass
            data = pa.py_buffer(pickle.dumps(error))
            for share in range(self.shares.count):
                yield from self._parts(data, share, sender, _FAILED)

    def _packets(self, rows: pa.RecordBatch, sender: int, number: int) -> Iterator[pa.RecordBatch]:
        found, table = self.shares.shares_of(rows), pa.Table.from_batches([rows])
        if found is None:
            yield from self._parts(_written(table), 0, sender, number)
            return
        shares = found.astype(np.int16)
        divided = taken(table, np.argsort(shares, kind="stable"))
        ends = np.cumsum(np.bincount(shares, minlength=self.shares.count)).tolist()
        for share, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
            if end > start:
                data = _written(divided.slice(start, end - start))
                yield from self._parts(data, share, sender, number)

    def _parts(
        self, data: pa.Buffer, share: int, sender: int, packet: int
    ) -> Iterator[pa.RecordBatch]:
        """Cut the bytes of a packet into rows, without copying them."""
        offsets = np.array([*range(0, int(data.size), self.part_bytes), data.size], np.int32)
        count = len(offsets) - 1
        rows = pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), data])
        same = [np.full(count, one, np.int32) for one in (share, sender, packet)]
        places = [*same, np.arange(count, dtype=np.int32), np.full(count, count, np.int32)]
        yield pa.RecordBatch.from_arrays([*map(arrow_array, places), rows], schema=_SCHEMA)


def _sender() -> int:
    context = TaskContext.get()
    assert context is not None, "Spark runs it in a task"
    return context.partitionId()


def gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Put batches together, those without rows left out, to about `HELD_BYTES` each."""
    held, size = list[pa.RecordBatch](), 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            size += batch.nbytes
        if size >= HELD_BYTES:
            yield pa.concat_batches(held)
            held, size = [], 0
    if held:
        yield pa.concat_batches(held)


def _written(rows: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return sink.getvalue()


@dataclass(frozen=True, slots=True)
class Unpacking:
    """Hands the rows of packets to a task; picklable."""

    task: Task
    """Turns a `PaimonError` of its rows into its outcome."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run the task."""
        return self.task(unpacked(batches))


@dataclass(frozen=True, slots=True)
class Repacking:
    """Takes rows out of packets, lets a task change them, and packs them for others; picklable."""

    change: Task
    packing: Packing
    """Also of an error of ``change``."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the parts of the new packets."""
        yield from self.packing(self.change(unpacked(batches)))
        for _ in batches:  # Spark's side must be read to its end
            pass


def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Put packets together again as soon as all of their parts are there.

    Raises
    ------
    PaimonError
        The first error of a task that packed rows.
    """
    begun: defaultdict[tuple[int, int], dict[int, pa.Buffer]] = defaultdict(dict)
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in _PLACES[1:]]
        for place, (sender, packet, part, count) in enumerate(zip(*columns, strict=True)):
            parts = begun[sender, packet]
            parts[part] = batch.column(ROWS)[place].as_buffer()
            if len(parts) < count:
                continue
            data = b"".join([parts[number] for number in range(count)])
            del begun[sender, packet]
            if packet == _FAILED:
                for _ in batches:  # Spark's side must be read to its end
                    pass
                raise pickle.loads(data)  # noqa: S301 - our own tasks made it
            with pa.ipc.open_stream(data) as stream:
                yield from stream
    assert not begun, "all parts of a packet are of one task of Spark, and arrive together"
