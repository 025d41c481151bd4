"""A table as the source of a stream: ``spark.readStream.table("paimon.db.t")``.

Spark asks how far the next batch goes, writes that down in its checkpoint, and asks for the files
of the batch. Both are answered in the driver from metadata; executors read the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.cloudpickle import dumps
from pyspark.sql import types as st
from pyspark.sql.pandas.types import to_arrow_schema

from paimonlab.errors import UnsupportedError
from paimonlab.read.changed_rows import ROW_KIND
from paimonlab.scan.change_splits import ChangeSplit
from paimonlab.scan.following import Position
from paimonlab.secrets import hides_secrets
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.jvm.metrics import Unmeasured
from paimonlab.spark.jvm.python_tasks import PYTHON_SOURCE, data_source
from paimonlab.spark.reading.executor_changes import ChangesTask
from paimonlab.spark.reading.frames import CUT_TIMESTAMPS_KEY
from paimonlab.spark.reading.plain_table import PlainTable
from paimonlab.spark.session_options import BRANCH, SessionOptions, options_of
from paimonlab.spark.shipping import ship
from paimonlab.spark.streaming.beginnings import kept_beginning
from paimonlab.spark.streaming.lag import lag
from paimonlab.spark.streaming.options import split_options, stream_read_options
from paimonlab.spark.values.types import spark_schema
from paimonlab.spec.types.data_types import AtomicType, TypeRoot
from paimonlab.table.following.admission import BatchLimits, StreamReadOptions
from paimonlab.table.following.follow import (
    FollowRequest,
    change_source,
    first_position,
    progress_of,
)
from paimonlab.table.following.micro_batches import MicroBatch, MicroBatches
from paimonlab.table.following.options import check_followable, rules_of
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.reading.query import with_read_options
from paimonlab.table.system import CatalogTable, SystemTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimonlab.table.table import Table

_STREAMING = CONNECTOR + "read.streaming."
_TASK_BYTES = 64 << 20
"""Size of the files that one task reads, at least, if there are enough tasks."""


@hides_secrets
@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRead:
    """What a stream reads."""

    table: Table
    options: Mapping[str, str]
    """Those of the stream and its session."""
    has_kinds: bool

    @property
    def schema(self) -> st.StructType:
        """The columns, after ``rowkind`` if it is one of them."""
        columns = spark_schema(self.table.schema.fields, plain=True)
        if not self.has_kinds:
            return columns
        return st.StructType([st.StructField(ROW_KIND, st.StringType(), nullable=False), *columns])


def stream_read(
    table: Table | SystemTable, session: SessionOptions, given: Mapping[str, str]
) -> StreamRead:
    """Check what a stream is to read.

    Parameters
    ----------
    table
        The table, or its ``$audit_log``.
    session, given
        Options of the session for the table, and of the stream.

    Raises
    ------
    UnsupportedError
        If its changes cannot be followed, or it is another system table.
    """
    own, has_kinds = split_options(given)
    if isinstance(table, SystemTable):
        if not isinstance(table, CatalogTable) and table.identifier.system_table == "audit_log":
            table, has_kinds = table.table, True
        else:
            raise UnsupportedError(
                f"a stream that reads {table.name}", "stream the table itself, or its $audit_log"
            )
    if branch := own.pop(BRANCH, None):
        table = table.on_branch(branch)
    options = {**options_of(session, table), **own}
    definition, _ = with_read_options(definition_of(table), store_of(table), options)
    check_followable(definition)
    stream_read_options(definition.options, table.name)
    return StreamRead(table=table, options=options, has_kinds=has_kinds)


class StreamTable(PlainTable):
    """A table that only a stream reads."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "catalog.SupportsRead"]  # noqa: RUF012

    def __init__(
        self,
        bridge: Bridge,
        name: str,
        table: Table | SystemTable,
        session: SessionOptions,
        given: Mapping[str, str],
    ) -> None:
        super().__init__(bridge)
        self._name = name
        self._read = stream_read(table, session, given)

    def name(self) -> str:
        """Return the name that plans show."""
        return self._name

    def toString(self) -> str:
        """Answer ``Object.toString``."""
        return self._name

    def schema(self) -> Any:
        """Return the columns."""
        return self._bridge.java_schema(self._read.schema)

    def columns(self) -> Any:
        """Return the columns."""
        return self._bridge.columns(self._read.schema)

    def capabilities(self) -> Any:
        """Return that streams read it."""
        return self._bridge.capabilities("MICRO_BATCH_READ")

    def newScanBuilder(self, options: Any) -> Proxy:
        """Start a read; its options are known already."""
        del options
        return _StreamScan(self._bridge, self._name, self._read)


class _StreamScan(Unmeasured):
    """Builds itself: a stream prunes nothing."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "read.ScanBuilder", CONNECTOR + "read.Scan"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, name: str, read: StreamRead) -> None:
        super().__init__(bridge)
        self._name = name
        self._read = read

    def build(self) -> Proxy:
        """Finish."""
        return self

    def readSchema(self) -> Any:
        """Return the columns."""
        return self._bridge.java_schema(self._read.schema)

    def description(self) -> str:
        """Say what is read, for plans."""
        return f"Paimon({self._name}) stream"

    def columnarSupportMode(self) -> Any:
        """Return that tasks hand over rows."""
        return self._bridge.java_class(CONNECTOR + "read.Scan$ColumnarSupportMode").UNSUPPORTED

    def toMicroBatchStream(self, checkpoint: str) -> Proxy:
        """Start the stream; Spark's checkpoint keeps the positions."""
        return MicroBatchSource(self._bridge, self._read, checkpoint)


class MicroBatchSource(Proxy):
    """Tells Spark how far there are rows, and which files have them."""

    class Java:
        """py4j's list of interfaces."""

        implements = [  # noqa: RUF012
            _STREAMING + "MicroBatchStream",
            _STREAMING + "SupportsTriggerAvailableNow",
            _STREAMING + "ReportsSourceMetrics",
        ]

    def __init__(self, bridge: Bridge, read: StreamRead, checkpoint: str) -> None:
        super().__init__(bridge)
        self._read = read
        self._checkpoint = checkpoint
        request = FollowRequest(options=read.options)
        table = read.table
        definition, store = with_read_options(definition_of(table), store_of(table), read.options)
        self._options = stream_read_options(definition.options, table.name)
        self._batches = MicroBatches(
            source=change_source(definition, store, request, rules_of(definition, store, None)),
            first=partial(first_position, definition, store, request),
            progress=progress_of(definition, store, request),
        )

    def initialOffset(self) -> Any:
        """Return where the first batch starts, also if it runs again after a crash."""
        first = kept_beginning(self._bridge, self._checkpoint, self._batches.first)
        return self._offset(first)

    def deserializeOffset(self, json: str) -> Any:
        """Return a position that Spark wrote down."""
        return self._offset(Position.from_bytes(json))

    def getDefaultReadLimit(self) -> Any:
        """Return what the options say a batch has at most."""
        return _read_limit(self._bridge, self._options)

    def latestOffset(self, *arguments: Any) -> Any:
        """Return where the next batch ends: its start, if there is nothing new."""
        if len(arguments) != 2:
            raise UnsupportedError("a stream that starts without a position", "")
        start, limit = arguments
        end = self._batches.end_of_next(
            _position(start),
            _limits(limit),
            max_delay_millis=self._options.max_delay_millis or 0,
        )
        return self._offset(end)

    def toString(self) -> str:
        """Name the source in the progress of a stream."""
        return self._read.table.name

    def metrics(self, consumed: Any) -> Any:
        """Return how far the stream is behind the table; nothing until it has read something."""
        told = (
            lag(self._batches.source.store, _position(consumed.get()))
            if (consumed.isPresent())
            else {}
        )
        return self._bridge.map({key: str(value) for key, value in told.items()})

    def reportLatestOffset(self) -> None:
        """Return nothing: it is not looked for apart from batches."""

    def prepareForTriggerAvailableNow(self) -> None:
        """Let later snapshots wait for the next run."""
        self._batches.end_here()

    def planInputPartitions(self, start: Any, end: Any) -> Any:
        """Return the tasks of a batch."""
        batch = self._batches.batch(_position(start), _position(end))
        task = self._bridge.java_class(PYTHON_SOURCE + "PythonInputPartition")
        cores = int(self._bridge.spark.sparkContext.defaultParallelism)
        groups = grouped(batch, cores)
        return self._bridge.array(
            CONNECTOR + "read.InputPartition",
            [task(number, dumps((batch.plan, group))) for number, group in enumerate(groups)],
        )

    def createReaderFactory(self) -> Any:
        """Return what runs our reader in Spark's Python workers."""
        bridge, read = self._bridge, self._read
        ship(bridge.spark.sparkContext)
        schema = read.schema
        task = ChangesTask(
            file_io=self._batches.source.store.file_io,
            schema=to_arrow_schema(schema, timezone="UTC"),
            has_kinds=read.has_kinds,
            padded=tuple(
                (field.name, field.type.length or 1)
                for field in read.table.schema.fields
                if isinstance(field.type, AtomicType) and field.type.root is TypeRoot.CHAR
            ),
            cuts_timestamps=bridge.conf.getConfString(CUT_TIMESTAMPS_KEY, "false") == "true",
        )
        readers = bridge.java_class(PYTHON_SOURCE + "PythonPartitionReaderFactory")
        none = bridge.none()
        command = dumps((task, schema))
        return readers(data_source(bridge), command, bridge.java_schema(schema), none, none)

    def commit(self, end: Any) -> None:
        """Let the consumer go on: Spark will not ask for what is before ``end`` again."""
        self._batches.commit(_position(end))

    def stop(self) -> None:
        """Do nothing: nothing is open."""

    def _offset(self, position: Position) -> Any:
        text = position.to_bytes().decode()
        return self._bridge.java_class(PYTHON_SOURCE + "PythonStreamingSourceOffset")(text)


def grouped(batch: MicroBatch, cores: int) -> list[list[ChangeSplit]]:
    """Divide the splits of a batch among tasks: in order, alike in size.

    Parameters
    ----------
    batch
        The batch.
    cores
        How many tasks run at once.
    """
    wanted = max(cores, -(-batch.size_bytes // _TASK_BYTES))
    target = max(1, batch.size_bytes / min(wanted, max(1, len(batch.splits))))
    groups: list[list[ChangeSplit]] = []
    done = 0
    for split in batch.splits:
        if not groups or done >= len(groups) * target:
            groups.append([])
        groups[-1].append(split)
        done += sum(side.size_bytes for side in split.sides)
    return groups


def _position(offset: Any) -> Position:
    return Position.from_bytes(str(offset.json()))


def _read_limit(bridge: Bridge, options: StreamReadOptions) -> Any:
    known = bridge.java_class(_STREAMING + "ReadLimit")
    limits = options.limits
    chosen = []
    if limits.max_files is not None:
        chosen.append(known.maxFiles(limits.max_files))
    if limits.max_bytes is not None:
        chosen.append(known.maxBytes(limits.max_bytes))
    if limits.max_rows is not None:
        chosen.append(known.maxRows(limits.max_rows))
    if limits.min_rows is not None and options.max_delay_millis is not None:
        chosen.append(known.minRows(limits.min_rows, options.max_delay_millis))
    if not chosen:
        return known.allAvailable()
    return known.compositeLimit(bridge.array(_STREAMING + "ReadLimit", chosen))


def _limits(limit: Any) -> BatchLimits:
    """Read a limit that Spark gives: the one above, or none at all (``Trigger.Once``)."""
    name = str(limit.getClass().getSimpleName())
    parts: Sequence[Any] = limit.getReadLimits() if name == "CompositeReadLimit" else [limit]
    found: dict[str, int] = {}
    for part in parts:
        kind = str(part.getClass().getSimpleName())
        match kind:
            case "ReadMaxFiles":
                found["max_files"] = part.maxFiles()
            case "ReadMaxBytes":
                found["max_bytes"] = part.maxBytes()
            case "ReadMaxRows":
                found["max_rows"] = part.maxRows()
            case "ReadMinRows":
                found["min_rows"] = part.minRows()
            case "ReadAllAvailable":
                pass
            case _:
                raise UnsupportedError(f"the limit {kind} of a stream", "use read.stream.… options")
    return BatchLimits(**found)
