"""The options of a stream that reads a table.

Source: apache/paimon@5dacde5 ``docs/spark/structured-streaming.md``, ``SparkConnectorOptions``.
"""

from __future__ import annotations

from collections.abc import Mapping

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spark.reading.time_travel import TRAVEL_OPTIONS
from paimonlab.spec.options.registry import FALLBACK_KEYS
from paimonlab.spec.options.table_options import (
    KNOWN_OPTIONS,
    Options,
    check_known,
    fields_of,
)
from paimonlab.table.following.admission import StreamReadOptions

READ_CHANGELOG = "read.changelog"
"""Whether rows have a first column with their kind."""
_INTERVAL = "continuous.discovery-interval"
_SPELLED = {key.lower(): key for key in KNOWN_OPTIONS}
"""Keys of options by those in small letters, as which Spark tells the options of a stream."""


STREAM_OPTIONS = frozenset(
    {
        *TRAVEL_OPTIONS,
        *("scan.mode", "scan.bounded.watermark", "scan.creation-time-millis"),
        *("scan.file-creation-time-millis", "scan.fallback-branch", "branch", READ_CHANGELOG),
        *("consumer-id", "consumer.expiration-time", "consumer.ignore-progress", "consumer.mode"),
        *("streaming-read-overwrite", "streaming-read-append-overwrite"),
        *("streaming.read.snapshot.delay", "file-index.read.enabled"),
        *("source.split.target-size", "source.split.open-file-cost"),
        *(field.key for field in fields_of(StreamReadOptions).values()),
    }
)
"""Options that a stream can have itself; others would have no effect, or be about the table."""


def stream_read_options(options: Options, table: str) -> StreamReadOptions:
    """Read the limits of a stream out of a table's options with its own on top.

    Raises
    ------
    SchemaError
        If a limit is not at least 1, or one of the two that belong together is missing.
    """
    chosen = options.slice(StreamReadOptions)
    for name, field in fields_of(StreamReadOptions).items():
        value = getattr(chosen, name)
        if value is not None and value < 1:
            raise SchemaError(f"{table}: {field.key} = {value}, must be at least 1")
    if (chosen.min_rows is None) != (chosen.max_delay_millis is None):
        raise SchemaError(
            f"{table}: read.stream.minRowsPerTrigger and read.stream.maxTriggerDelayMs belong "
            "together: set both or neither"
        )
    return chosen


def split_options(given: Mapping[str, str]) -> tuple[dict[str, str], bool]:
    """Return the table options of a stream, and whether its rows have their kinds.

    Raises
    ------
    SchemaError
        If an option is not known.
    UnsupportedError
        If it would have no effect on a stream, or the table itself must have it.

    Examples
    --------
    >>> split_options({"scan.mode": "latest", "read.changelog": "true"})
    ({'scan.mode': 'latest'}, True)
    >>> split_options({"read.stream.maxfilespertrigger": "3"})  # as Spark tells them
    ({'read.stream.maxFilesPerTrigger': '3'}, False)
    """
    given = {_SPELLED.get(key.lower(), key): value for key, value in given.items()}
    check_known(given)
    for key, value in given.items():
        if FALLBACK_KEYS.get(key, key) not in STREAM_OPTIONS:
            instead = "use a trigger" if key == _INTERVAL else "set it on the table"
            raise UnsupportedError(f"{key} = {value!r} for a stream", instead)
    kinds = given.get(READ_CHANGELOG, "false").strip().lower()
    if kinds not in ("true", "false"):
        raise SchemaError(f"{READ_CHANGELOG} = {given[READ_CHANGELOG]!r} is not true or false")
    return {key: value for key, value in given.items() if key != READ_CHANGELOG}, kinds == "true"
