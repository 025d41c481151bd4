"""Rows that pass from the tasks that read them to those that write them, as columns.

Spark shuffles them as bytes: each row of the shuffle has some thousand rows of one share in Arrow's
format. So no row is taken apart in between, and types that Spark does not have pass as well.
"""

from __future__ import annotations

import itertools
import pickle
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.accumulators import Accumulator

from paimonlab.arrow_values import arrow_row
from paimonlab.errors import PaimonError
from paimonlab.spark.writing.executor_jobs import JobOutcome
from paimonlab.workers import Divided

SHARE, JOB, PLACE, ROWS = "share", "job", "place", "rows"
"""Columns of the shuffle."""
SHUFFLED = f"{SHARE} int, {JOB} int, {PLACE} bigint, {ROWS} binary"
_SHUFFLED = pa.schema([(SHARE, "int32"), (JOB, "int32"), (PLACE, "int64"), (ROWS, pa.binary())])
_FAILED = -1
"""Number of the job in a row that says that one has failed."""
_HELD_BYTES = 16 << 20
"""Bytes of rows that a task gathers before it hands them on."""


@dataclass(frozen=True, slots=True)
class ReadTask:
    """Reads the rows of jobs and says which share they belong to; picklable."""

    pickled: Sequence[bytes]
    """What each task does, as `pickled_jobs` returns it."""
    shares: int
    outcomes: Accumulator[list[JobOutcome]]

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Do the jobs of the tasks whose numbers come, until one fails."""
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                yield from self._read(self.pickled[number])

    def _read(self, pickled: bytes) -> Iterator[pa.RecordBatch]:
        read, jobs = pickle.loads(pickled)  # noqa: S301 - the driver made it
        for number, job in jobs:
            try:
                yield from _packed(read(job), number)
            except PaimonError as error:
                self.outcomes.add([JobOutcome(number, error=pickle.dumps(error))])
                for share in range(self.shares):  # nothing needs to be written any more
                    yield _packet(share, _FAILED, 0, b"")
                return
            self.outcomes.add([JobOutcome(number, result=pickle.dumps(None))])


def _packed(divided: Divided, job: int) -> Iterator[pa.RecordBatch]:
    """Gather rows by share, and hand them on when they are many."""
    held: defaultdict[int, list[pa.RecordBatch]] = defaultdict(list)
    held_bytes = place = 0
    for share, rows in divided:
        held[share].append(rows)
        held_bytes += rows.nbytes
        if held_bytes >= _HELD_BYTES:
            yield from _packets(held, job, place)
            held_bytes, place = 0, place + 1
            held.clear()
    yield from _packets(held, job, place)


def _packets(
    held: dict[int, list[pa.RecordBatch]], job: int, place: int
) -> Iterator[pa.RecordBatch]:
    for share, batches in held.items():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batches[0].schema) as stream:
            for batch in pa.Table.from_batches(batches).combine_chunks().to_batches():
                stream.write_batch(batch)
        yield _packet(share, job, place, sink.getvalue().to_pybytes())


def _packet(share: int, job: int, place: int, rows: bytes) -> pa.RecordBatch:
    return arrow_row(_SHUFFLED, share, job, place, rows)


@dataclass(frozen=True, slots=True)
class ShareTask:
    """Writes the rows of a share, which are all rows of a task, in their order; picklable."""

    write: Callable[[object, Iterator[pa.RecordBatch]], object]
    shares: Sequence[bytes]
    """What is written, pickled one by one."""
    first: int
    """Number of the first share among outcomes."""
    outcomes: Accumulator[list[JobOutcome]]

    def __call__(self, packets: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write; no rows come back."""
        first = next((batch for batch in packets if batch.num_rows), None)
        if first is None:
            return
        if first[JOB][0].as_py() == _FAILED:
            _drained(packets)
        else:
            number = first[SHARE][0].as_py()
            self.outcomes.add([self._outcome(number, _rows(number, first, packets))])
            _drained(packets)
        yield pa.RecordBatch.from_pydict({"id": []}, schema=pa.schema([("id", pa.int64())]))

    def _outcome(self, number: int, rows: Iterator[pa.RecordBatch]) -> JobOutcome:
        share = pickle.loads(self.shares[number])  # noqa: S301 - the driver made it
        try:
            made = self.write(share, rows)
        except PaimonError as error:
            return JobOutcome(self.first + number, error=pickle.dumps(error))
        return JobOutcome(self.first + number, result=pickle.dumps(made))


def _rows(
    share: int, first: pa.RecordBatch, others: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in itertools.chain([first], others):
        assert set(batch[SHARE].to_pylist()) <= {share}, "a task has the rows of one share"
        yield from _unpacked(batch)


def _unpacked(packets: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for rows in packets[ROWS]:
        with pa.ipc.open_stream(rows.as_buffer()) as stream:
            yield from stream


def _drained(packets: Iterator[pa.RecordBatch]) -> None:
    for _ in packets:  # Spark's side must be read to its end
        pass
