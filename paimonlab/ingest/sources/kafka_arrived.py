"""Messages of a consumer taken apart into columns, so that none of its objects stays."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from paimonlab.ingest.formats import Messages
from paimonlab.ingest.formats.messages import UNKNOWN_TIME

if TYPE_CHECKING:
    from confluent_kafka import Message


@dataclass(frozen=True, slots=True)
class Arrived:
    """Messages of one topic in the order in which they came."""

    partitions: array[int] = field(default_factory=lambda: array("i"))
    offsets: array[int] = field(default_factory=lambda: array("q"))
    millis: array[int] = field(default_factory=lambda: array("q"))
    keys: list[bytes | None] = field(default_factory=list)
    values: list[bytes | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.values)

    def add(self, messages: list[Message]) -> None:
        """Take messages that are no errors."""
        self.partitions.extend([message.partition() for message in messages])
        self.offsets.extend([message.offset() for message in messages])
        self.millis.extend([message.timestamp()[1] for message in messages])
        self.keys.extend([message.key() for message in messages])
        self.values.extend([message.value() for message in messages])

    def cut(self, end: int) -> None:
        """Drop what has an offset of ``end`` or above: messages of one partition."""
        kept = int(np.searchsorted(np.array(self.offsets), end))
        for column in (self.partitions, self.offsets, self.millis, self.keys, self.values):
            del column[kept:]

    def messages(self, topic: str) -> Messages:
        """Return them with those of each partition together, in order."""
        partitions = np.array(self.partitions, np.int32)
        offsets = np.array(self.offsets, np.int64)
        millis = np.array(self.millis, np.int64)
        keys, values = self.keys, self.values
        if (np.diff(partitions) < 0).any():
            order = np.argsort(partitions, kind="stable")
            partitions, offsets, millis = partitions[order], offsets[order], millis[order]
            keys = [keys[index] for index in order.tolist()]
            values = [values[index] for index in order.tolist()]
        return Messages(
            topic=topic,
            keys=keys,
            values=values,
            partitions=partitions,
            offsets=offsets,
            timestamps=np.where(millis < 0, UNKNOWN_TIME, millis),
        )
