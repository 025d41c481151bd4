"""A stream of Spark over the parts of a source: executors read and decode, columns stay columns.

A row of the stream is an event of the source: a batch of rows of one table, with what the driver
has to know of it beside it, so that the driver never sees rows. Spark runs the reader in Python
processes of its own.

Source: pyspark 4.2.0 and 4.3.0 ``pyspark.sql.datasource``.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from paimonlab.arrow_values import arrow_row
from paimonlab.errors import PaimonError, SourceError
from paimonlab.ingest.changes import Event, PartitionedSource, RowChanges, SourceSchema
from paimonlab.ingest.fitting import retracts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimonlab.ingest.changes import JsonValue

TABLE, PART, NUMBER, FACTS, ROWS = "table", "part", "number", "facts", "rows"
"""Columns of the stream: ``database.table`` of the source, the part as JSON, the number of the
event in its part, what the driver has to know, and `RowChanges`; the last two are pickled."""
COLUMNS = f"`{TABLE}` string, {PART} string, {NUMBER} bigint, {FACTS} binary, `{ROWS}` binary"
_SCHEMA = pa.schema(
    [
        (TABLE, pa.string()),
        (PART, pa.string()),
        (NUMBER, pa.int64()),
        (FACTS, pa.binary()),
        (ROWS, pa.binary()),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFacts:
    """What the driver has to know of a batch of rows."""

    table: str
    """``database.table`` of the source."""
    schema: SourceSchema
    count: int
    size_bytes: int
    retracts: bool
    """Whether rows are updated or deleted."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A part that cannot be read."""

    error: PaimonError


@dataclass(frozen=True, slots=True)
class BatchLimit:
    """How many changes the next batch has at most: the driver learns what they take.

    Spark asks the reader in another process of the driver's machine, so that a file tells it.
    """

    path: str
    most: int

    def learn(self, max_bytes: int, row_bytes: float) -> None:
        """Let batches take some bytes.

        Parameters
        ----------
        max_bytes
            Of the rows of a batch, decoded.
        row_bytes
            What a row takes. An update is one change and two rows.
        """
        changes = min(self.most, max(int(max_bytes / (2 * row_bytes)), 1))
        path = Path(self.path)
        new = path.with_suffix(".new")
        new.write_text(str(changes), encoding="ascii")
        new.replace(path)

    def now(self) -> int:
        """Return how many changes the next batch may have."""
        return int(Path(self.path).read_text(encoding="ascii"))


def stream_of(
    name: str, source: PartitionedSource, begin: JsonValue, most: BatchLimit
) -> type[DataSource]:
    """Make what Spark makes a stream of.

    Parameters
    ----------
    name
        What Spark calls it.
    source
        What is read.
    begin
        The position after which it is read.
    most
        About how many changes a batch has.
    """

    class Changes(DataSource):
        """Pickled with the source, which no option of Spark could carry."""

        @classmethod
        def name(cls) -> str:
            return name

        def schema(self) -> str:
            return COLUMNS

        def streamReader(self, schema: StructType) -> DataSourceStreamReader:
            del schema
            return ChangesReader(source, begin, most)

    return Changes


class ChangesReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Says how far a source can be read, and reads its parts on executors; can be pickled."""

    def __init__(self, source: PartitionedSource, begin: JsonValue, most: BatchLimit) -> None:
        self._source = source
        self._begin = begin
        self._most = most
        self._is_now = False
        self._until: JsonValue = None

    def initialOffset(self) -> dict[str, Any]:
        """Return where the job goes on."""
        return _offset(self._begin)

    def getDefaultReadLimit(self) -> ReadLimit:
        """Bound batches, and so what executors keep of one."""
        return ReadMaxRows(self._most.most)

    def prepareForTriggerAvailableNow(self) -> None:
        """Read no further than what is there when reading begins."""
        self._is_now = True

    def latestOffset(self, start: Mapping[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """Return how far the next batch goes."""
        position = start["position"]
        if self._is_now and self._until is None:
            # From where rows are read anew that is the end of those, and more may follow.
            self._until = self._source.newest(self._source.newest(position))
        most = self._most.now() if isinstance(limit, ReadMaxRows) else None
        return _offset(self._source.newest(position, most=most, until=self._until))

    def partitions(
        self, start: Mapping[str, Any], end: Mapping[str, Any]
    ) -> Sequence[InputPartition]:
        """Return a task for each part."""
        parts = self._source.parts(start["position"], end["position"])
        return [InputPartition(part) for part in parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one part."""
        part = partition.value
        text = json.dumps(part)
        number = 0
        try:
            for event in self._source.read_part(part, _any_table):
                yield _row(event, text, number)
                number += 1
        except PaimonError as error:  # the driver raises it as itself
            yield arrow_row(_SCHEMA, None, text, number, pickle.dumps(Failed(error)), None)


def _any_table(table: str) -> bool:
    del table
    return True


def _offset(position: JsonValue) -> dict[str, Any]:
    return {"position": position}


def _row(event: Event, part: str, number: int) -> pa.RecordBatch:
    if not isinstance(event, RowChanges):
        return arrow_row(_SCHEMA, None, part, number, pickle.dumps(event), None)
    if event.unchanged:
        raise SourceError(event.table, "values that are not told are not looked up by Spark's jobs")
    facts = RowFacts(
        table=event.table,
        schema=event.schema,
        count=event.rows.num_rows,
        size_bytes=event.size_bytes,
        retracts=retracts(event),
    )
    rows = pickle.dumps(event, protocol=pickle.HIGHEST_PROTOCOL)
    return arrow_row(_SCHEMA, event.table, part, number, pickle.dumps(facts), rows)
