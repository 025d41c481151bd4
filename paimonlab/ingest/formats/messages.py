"""Messages of one topic, as a reader of Kafka hands them to a format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, arrow_scalar
from paimonlab.ingest.changes import JsonValue
from paimonlab.spec.types.data_types import DataType
from paimonlab.spec.types.text import parse_type

UNKNOWN_TIME = -1
"""Of a message without timestamp."""
METADATA_TYPES: Mapping[str, DataType] = {
    "topic": parse_type("STRING"),
    "partition": parse_type("INT"),
    "offset": parse_type("BIGINT"),
    "timestamp": parse_type("TIMESTAMP_LTZ(3)"),
    "op_ts": parse_type("TIMESTAMP_LTZ(3)"),
}
"""What is known of rows beside their values; the last is when the source changed them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Messages:
    """Messages of one topic; each partition's in the order of its log."""

    topic: str
    keys: Sequence[bytes | None] = field(repr=False)
    values: Sequence[bytes | None] = field(repr=False)
    """None: a tombstone."""
    partitions: npt.NDArray[np.int32] = field(repr=False)
    offsets: npt.NDArray[np.int64] = field(repr=False)
    timestamps: npt.NDArray[np.int64] = field(repr=False)
    """Epoch milliseconds; `UNKNOWN_TIME` if a message has none."""

    def __len__(self) -> int:
        return len(self.values)

    def positions(self, places: npt.NDArray[np.int64]) -> pa.Array:
        """Return where messages are: structs of ``topic``, ``partition`` and ``offset``."""
        return pa.StructArray.from_arrays(
            [
                pa.repeat(arrow_scalar(self.topic, pa.string()), len(places)),
                arrow_array(self.partitions[places], pa.int32()),
                arrow_array(self.offsets[places], pa.int64()),
            ],
            ["topic", "partition", "offset"],
        )

    @property
    def table(self) -> str:
        """``database.table`` of formats whose messages name none: the topic."""
        return self.topic if "." in self.topic else f"{self.database}.{self.topic}"

    @property
    def database(self) -> str:
        """Of tables whose messages name no database."""
        return self.topic.partition(".")[0] if "." in self.topic else "kafka"

    def position(self, place: int) -> dict[str, JsonValue]:
        """Return where one message is."""
        return {
            "topic": self.topic,
            "partition": int(self.partitions[place]),
            "offset": int(self.offsets[place]),
        }

    def metadata(self, places: npt.NDArray[np.int64]) -> dict[str, pa.Array]:
        """Return what is known of messages beside their values: the metadata columns of Kafka."""
        times = self.timestamps[places]
        unknown = times == UNKNOWN_TIME
        millis = arrow_array(times, pa.int64(), mask=unknown if unknown.any() else None)
        positions = self.positions(places)
        return {
            "topic": positions.field("topic"),
            "partition": positions.field("partition"),
            "offset": positions.field("offset"),
            "timestamp": millis.cast(pa.timestamp("ms", tz="UTC")),
        }


def messages_of(
    values: Sequence[bytes | None],
    *,
    keys: Sequence[bytes | None] | None = None,
    topic: str = "topic",
    partition: int = 0,
    first_offset: int = 0,
) -> Messages:
    """Make messages of one partition without timestamps.

    Examples
    --------
    >>> len(messages_of([b"{}", None]))
    2
    """
    count = len(values)
    return Messages(
        topic=topic,
        keys=[None] * count if keys is None else keys,
        values=values,
        partitions=np.full(count, partition, np.int32),
        offsets=np.arange(first_offset, first_offset + count, dtype=np.int64),
        timestamps=np.full(count, UNKNOWN_TIME, np.int64),
    )
