"""What tasks do with the files of a format table, on executors."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from paimonlab.arrow_values import arrow_row
from paimonlab.errors import PaimonError
from paimonlab.spark.reading.executor_read import as_expected
from paimonlab.storage import FileIO
from paimonlab.table.format_tables.reading import FileRead
from paimonlab.table.format_tables.writing import FormatWriter, StagedFile

OUTCOME_COLUMN = "outcome"
_RESULT = pa.schema([(OUTCOME_COLUMN, pa.binary())])


def read_files(
    pieces: Iterator[pa.RecordBatch], *, read: FileRead, file_io: FileIO, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Read the files that Spark hands over.

    Parameters
    ----------
    pieces
        Batches with one binary column: pickled lists of `FileToRead`, as the driver made them.
    read
        How to read them.
    file_io
        The table's store.
    schema
        What Spark expects.
    """
    for batch in pieces:
        for pickled in batch.column(0).to_pylist():
            files = pickle.loads(pickled)  # noqa: S301 - the driver made them for this task
            for file in files:
                for rows in read.batches(file_io, file):
                    yield as_expected(rows, schema, read.table, cuts_timestamps=False)


@dataclass(frozen=True, slots=True)
class WriteFiles:
    """Writes the rows of a task to files that nobody sees yet; picklable."""

    writer: FormatWriter

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write rows; yields one row with the pickled `Outcome`."""
        yield arrow_row(_RESULT, pickle.dumps(self._outcome(batches)))

    def _outcome(self, batches: Iterator[pa.RecordBatch]) -> Outcome:
        try:
            with self.writer.another() as writer:
                for batch in batches:
                    writer.write(batch)
                return Outcome(staged=tuple(writer.staged()))
        except PaimonError as error:
            for _ in batches:  # Spark's side must be read to its end
                pass
            return Outcome(error=pickle.dumps(error))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one writing task."""

    staged: tuple[StagedFile, ...] = ()
    error: bytes | None = None
    """A pickled `PaimonError`: nothing of this task is left then."""


def outcomes_of(pickled: list[bytes]) -> tuple[list[StagedFile], PaimonError | None]:
    """Gather what tasks handed back: all files, and the first error."""
    found: list[Outcome] = [pickle.loads(value) for value in pickled]  # noqa: S301 - made by tasks
    errors = [one.error for one in found if one.error is not None]
    staged = [file for one in found for file in one.staged]
    return staged, pickle.loads(errors[0]) if errors else None  # noqa: S301 - as above
