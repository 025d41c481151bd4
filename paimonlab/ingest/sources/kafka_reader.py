"""Messages of assigned partitions, in batches, with the offsets that were read.

Only committed messages are read. New partitions and topics are looked for every eight seconds and
read from their beginning. What a broker lost before it was read is an error.

Source: Apache Kafka's protocol by librdkafka.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from paimonlab.errors import SourceError
from paimonlab.ingest.apart import answer_of, done_within
from paimonlab.ingest.changes import (
    Boundary,
    Event,
    JsonValue,
    Phase,
    RowChanges,
    Unreadable,
    Waits,
)
from paimonlab.ingest.formats import Decode, Messages
from paimonlab.ingest.sources import losses
from paimonlab.ingest.sources.kafka_arrived import Arrived
from paimonlab.ingest.sources.kafka_positions import (
    Offsets,
    Partition,
    Range,
    Start,
    begin_of,
    begins_since,
    check_ids,
    continued,
    from_json,
    ids_of,
    limited,
    lost,
    read_again,
    since,
    specific,
    to_json,
    whole_from,
    with_ids,
)
from paimonlab.ingest.sources.losses import Patience

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, Message

logger = logging.getLogger(__name__)

_DISCOVERY_SECONDS = 8.0
_AGAIN_SECONDS = 2.0
"""After brokers did not answer."""
_WAIT_SECONDS = 0.25
"""For messages, before a boundary says that there are none."""
_RANGE_ATTEMPTS = 20
"""For a partition to get a leader; each after `_WAIT_SECONDS`."""
_CONTACT_SECONDS = 8.0
_CLOSE_SECONDS = 1.0
_SECOND = 1.0
_PATIENCE_SECONDS = 60.0
"""Without any broker, before it is an error: brokers may start again meanwhile."""
_LOST_SECONDS = 5.0
"""Without an answer, before brokers that can be connected to are lost, too."""
_BATCH_BYTES = 8 << 20
_MOST_MESSAGES = 20_000
_AT_ONCE = 500
"""Messages that are objects at a time: fewer than those after which Python looks for garbage."""
_FIRST_MESSAGES = 200
_SAMPLED = 1_000
"""Messages of each partition that `tables` reads."""
_SAMPLE_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is read, and how."""

    name: str
    """Of the source, for messages."""
    topics: Sequence[str]
    """Those that must be there."""
    wants: Callable[[str], bool]
    """Whether a topic is read, by its name."""
    start: Start
    has_group: bool
    """Whether the consumer has a group that the user named."""
    decoder: Callable[[str], Decode]
    """Of a topic."""
    ids: Callable[[Collection[str]], Mapping[str, str]]
    """Which topics they are, as far as brokers tell; those of before Kafka 2.8 do not."""


class Brokers:
    """What a consumer says of the brokers it knows."""

    def __init__(self) -> None:
        self.are_down = False
        """Whether none could be connected to since one answered."""

    def note(self, error: KafkaError) -> None:
        """Take what a consumer says of itself."""
        logger.info("kafka: %s", error.str())
        if error.code() == error._ALL_BROKERS_DOWN:  # noqa: SLF001 - librdkafka's own name
            self.are_down = True


class _UnansweredError(SourceError):
    """Brokers did not answer, or not yet; they may later."""


class _NewPartitionError(_UnansweredError):
    """A partition that the topic has is not known to the client yet: it was created just now."""


def come_again(event: Event, tables: Collection[str]) -> Event | None:
    """Return what an event that came before says of tables; None: nothing.

    What cannot be read was told when it came first.
    """
    if isinstance(event, Boundary | Unreadable) or getattr(event, "table", None) not in tables:
        return None
    if not isinstance(event, RowChanges):
        return event
    # What came later in the log may have been followed already.
    return replace(event, schema=replace(event.schema, is_unordered=True))


class Reader:
    """One reading: a consumer, and how far it came."""

    def __init__(self, wanted: Wanted, consumer: Consumer, brokers: Brokers) -> None:
        self.consumer = consumer
        self._brokers = brokers
        self._wanted = wanted
        self._name = wanted.name
        self._counts: dict[str, int] = {}
        """Of partitions by topic."""
        self._next: Offsets = {}
        self._ends: Offsets = {}
        """Where each partition ended when its end was reached last."""
        self._new_ends: Offsets = {}
        """Of the messages that were consumed last."""
        self._newest_millis: int | None = None
        self._begin: JsonValue = None
        """Where reading began, if nothing else tells it."""
        self._ids: dict[str, str] = {}
        """Of topics: those that were read, and then those that are."""
        self._batch = _FIRST_MESSAGES
        self._most = _MOST_MESSAGES
        self._looked = 0.0
        self._last_answer = time.monotonic()
        self._silent: str | None = None
        """Why brokers did not answer when they were asked last."""

    def close(self) -> None:
        """Close the consumer, which may wait for what it asked a broker."""
        done_within(self.consumer.close, name="closing a reader of Kafka", seconds=_CLOSE_SECONDS)

    # Where to begin

    def first_offsets(self, position: JsonValue) -> Offsets:
        """Return the next offset of each partition; see `Start`."""
        from confluent_kafka import OFFSET_END, TopicPartition  # noqa: PLC0415 - an extra

        partitions = self._partitions(self._metadata(_CONTACT_SECONDS))
        ranges = {partition: self._range(partition) for partition in partitions}
        self._looked = time.monotonic()
        start = self._wanted.start
        if position is not None:
            return continued(self._name, from_json(position), ranges)
        match start.at:
            case "earliest":
                return {partition: found.low for partition, found in ranges.items()}
            case "latest":
                return {partition: found.high for partition, found in ranges.items()}
            case "offsets":
                return specific(self._name, start.offsets or {}, ranges)
            case "time":
                wanted = [TopicPartition(*partition, start.millis) for partition in partitions]
                found = self._ask(lambda: self.consumer.offsets_for_times(wanted, _CONTACT_SECONDS))
                return {
                    (one.topic, one.partition): ranges[one.topic, one.partition].high
                    if one.offset in (OFFSET_END, -1)
                    else one.offset
                    for one in found
                }
            case "group":
                return self._group_offsets(partitions, ranges)

    def _group_offsets(
        self, partitions: Sequence[Partition], ranges: Mapping[Partition, Range]
    ) -> Offsets:
        from confluent_kafka import TopicPartition  # noqa: PLC0415 - an extra

        if not self._wanted.has_group:
            raise SourceError(self._name, "start='group' needs group= of the cluster")
        wanted = [TopicPartition(*partition) for partition in partitions]
        found = self._ask(lambda: self.consumer.committed(wanted, _CONTACT_SECONDS))
        without = [one for one in found if one.offset < 0]
        if without:
            raise SourceError(
                self._name,
                f"the group committed no offset of {without[0].topic}"
                f"[{without[0].partition}]; begin with start='earliest' or 'latest'",
            )
        offsets = {(one.topic, one.partition): one.offset for one in found}
        return continued(self._name, offsets, ranges)

    def _metadata(self, timeout: float) -> Any:
        found = self._ask(lambda: self.consumer.list_topics(timeout=timeout))
        for name, topic in found.topics.items():
            error = topic.error if self._wanted.wants(name) else None
            # A broker that has just started has no leader yet.
            if error is not None and error.code() == error.LEADER_NOT_AVAILABLE:
                raise _UnansweredError(self._name, f"{name}: {error.str()}")
        return found

    def _partitions(self, metadata: Any) -> list[Partition]:
        """Return all partitions of the wanted topics."""
        topics = {
            name: topic
            for name, topic in metadata.topics.items()
            if self._wanted.wants(name) and topic.error is None
        }
        self._counts = {name: len(topic.partitions) for name, topic in topics.items()}
        missing = [name for name in self._wanted.topics if name not in topics]
        if missing:
            raise SourceError(self._name, f"there is no topic {missing[0]!r}")
        return sorted(
            (name, number) for name, topic in topics.items() for number in topic.partitions
        )

    def _range(self, partition: Partition) -> Range:
        from confluent_kafka import TopicPartition  # noqa: PLC0415 - an extra

        asked = TopicPartition(*partition)
        for attempt in range(_RANGE_ATTEMPTS):
            try:
                low, high = self._ask(
                    lambda: self.consumer.get_watermark_offsets(asked, timeout=_CONTACT_SECONDS)
                )
            except _NewPartitionError:
                if attempt == _RANGE_ATTEMPTS - 1:
                    raise
                time.sleep(_WAIT_SECONDS)
            else:
                return Range(low, high)
        raise AssertionError("the last attempt returns or raises")

    def _ask(self, question: Callable[[], Any]) -> Any:
        from confluent_kafka import KafkaException  # noqa: PLC0415 - an extra

        try:
            answer = answer_of(question, name="a question to Kafka")
        except KafkaException as error:
            said = error.args[0]
            is_loss = said.retriable() or said.code() in (
                said._TRANSPORT,  # noqa: SLF001 - librdkafka's own names
                said._TIMED_OUT,  # noqa: SLF001
                said._ALL_BROKERS_DOWN,  # noqa: SLF001
            )
            raised = _UnansweredError if is_loss else SourceError
            if said.code() == said._UNKNOWN_PARTITION:  # noqa: SLF001
                raised = _NewPartitionError
            raise raised(self._name, said.str()) from error
        self._last_answer = time.monotonic()
        return answer

    # Reading on

    def events(self, position: JsonValue) -> Iterator[Event]:
        """Yield what comes after a position, without end."""
        offsets = yield from self._awaited_offsets(position)
        self._begin = begin_of(position) if position is not None else self.begin(offsets)
        self.ids(position)
        if again := read_again(position):
            yield from self._again(position, again, offsets)
        self._assign(offsets)
        while True:
            for batch in self._batches(self._consume()):
                yield from self._decoded(batch)
            yield self._boundary()
            self._look_around()
            if self._silent is not None:
                seconds = time.monotonic() - self._last_answer
                yield Waits(
                    what=f"any broker, which was last heard {seconds:.0f} s ago: {self._silent}",
                    is_lost=self._brokers.are_down or seconds >= _LOST_SECONDS,
                )

    def _awaited_offsets(self, position: JsonValue) -> Generator[Event, None, Offsets]:
        """Return where to begin; wait for brokers that do not answer."""
        patience = Patience(self._name)
        while True:
            try:
                return self.first_offsets(position)
            except _UnansweredError as error:
                waits = patience.waits(error, has_heard=False)
            yield waits
            time.sleep(losses.WAIT_SECONDS)

    def _position(self, offsets: Offsets) -> JsonValue:
        return with_ids(since(to_json(offsets), self._begin), self._ids)

    def ids(self, position: JsonValue) -> Mapping[str, str]:
        """Return which topics are read now.

        Raises
        ------
        SourceError
            If one is not that of the position.
        """
        self._ids = ids_of(position)
        self._look_at_ids()
        return self._ids

    def _look_at_ids(self) -> None:
        now = answer_of(lambda: self._wanted.ids(self._counts), name="a question to Kafka")
        check_ids(self._name, self._ids, now)
        self._ids = {topic: one for topic, one in self._ids.items() if topic in self._counts}
        self._ids |= now

    def begin(self, offsets: Offsets) -> JsonValue:
        """Return what positions say of where reading begins; None: the start tells it."""
        return to_json(offsets) if self._wanted.start.at in ("latest", "group") else None

    def whole_offsets(self, position: JsonValue) -> Offsets:
        """Return from where all messages are there since reading began.

        Raises
        ------
        SourceError
            If some were deleted.
        """
        begin = begin_of(position)
        if begin is not None:
            partitions = self._partitions(self._metadata(_CONTACT_SECONDS))
            ranges = {partition: self._range(partition) for partition in partitions}
            return begins_since(self._name, from_json(begin), ranges)
        begins = self.first_offsets(None)
        if self._wanted.start.at != "offsets":  # those are looked at already
            whole_from(self._name, begins, {one: self._range(one) for one in begins})
        return begins

    def _again(
        self, position: JsonValue, tables: frozenset[str], ends: Offsets
    ) -> Generator[Event, None, None]:
        """Yield all that messages before some offsets say of tables, a partition after another."""
        begins = self.whole_offsets(position)
        for partition, end in ends.items():
            if begins[partition] >= end:
                continue
            for event in self.part(partition, begins[partition], end):
                if (found := come_again(event, tables)) is not None:
                    yield found
                yield Boundary(position=position, phase=Phase.SNAPSHOT)
        yield Boundary(position=self._position(ends), phase=Phase.STREAM)

    def sample(self, offsets: Offsets) -> Iterator[Event]:
        """Yield the first rows from some offsets on."""
        self._assign(offsets)
        end = time.monotonic() + _SAMPLE_SECONDS
        left = dict.fromkeys(offsets, _SAMPLED)
        self._most = _SAMPLED
        while time.monotonic() < end and any(
            count > 0 and not self._is_at_end(partition) for partition, count in left.items()
        ):
            for batch in self._batches(self._consume()):
                yield from self._decoded(batch)
                for number in np.unique(batch.partitions).tolist():
                    left[batch.topic, number] -= int((batch.partitions == number).sum())
            self._boundary()

    def newest(
        self, position: JsonValue, *, most: int | None = None, until: JsonValue = None
    ) -> Offsets:
        """Return how far partitions can be read now; see `limited`."""
        partitions = self._partitions(self._metadata(_CONTACT_SECONDS))
        ranges = {partition: self._range(partition) for partition in partitions}
        begin = continued(self._name, from_json(position), ranges)
        ends = {partition: found.high for partition, found in ranges.items()}
        stop = None if until is None else from_json(until)
        return limited(begin, ends, most=most, until=stop)

    def first_of(self, partition: Partition) -> int:
        """Return the first offset that a partition has."""
        return self._range(partition).low

    def part(self, partition: Partition, begin: int, end: int) -> Iterator[Event]:
        """Yield what one partition has from an offset on, up to another, and then a boundary."""
        self._partitions(self._metadata(_CONTACT_SECONDS))
        found = self._range(partition)
        if begin < found.low or end > found.high:
            continued(self._name, {partition: begin}, {partition: found})
            raise lost(self._name, partition, end, f"it ends at offset {found.high}")
        self._assign({partition: begin})
        arrived = time.monotonic()
        while self._next[partition] < end:
            messages = self._consume(end - self._next[partition])
            count = sum(map(len, messages.values()))
            for of_topic in messages.values():
                of_topic.cut(end)
            for batch in self._batches(messages):
                yield from self._decoded(batch)
            self._boundary()
            if sum(map(len, messages.values())) < count:
                break
            now = time.monotonic()
            arrived = now if messages else arrived
            if now - arrived > _PATIENCE_SECONDS:
                raise lost(
                    self._name, partition, self._next[partition], "no message came for a minute"
                )
        yield Boundary(
            position=None, phase=Phase.STREAM, seen_millis=self._newest_millis, behind=None
        )

    def _is_at_end(self, partition: Partition) -> bool:
        return self._ends.get(partition) == self._next[partition]

    def _assign(self, offsets: Offsets) -> None:
        from confluent_kafka import TopicPartition  # noqa: PLC0415 - an extra

        self._next = dict(offsets)
        self._ends = {}
        self.consumer.assign(
            [TopicPartition(*partition, offset) for partition, offset in offsets.items()]
        )

    def _consume(self, most: int = _MOST_MESSAGES) -> dict[str, Arrived]:
        """Return messages by topic, after a while or as soon as there are ``most``.

        Ends of partitions are noted, and what is an error is raised.
        """
        topics = {topic for topic, _ in self._next}
        only = topics.pop() if len(topics) == 1 else None
        arrived: dict[str, Arrived] = {}
        left, end = min(self._batch, most), time.monotonic() + _WAIT_SECONDS
        while left > 0:
            asked = min(left, _AT_ONCE)
            messages = self._consumed(asked, max(0.0, end - time.monotonic()))
            kept = [message for message in messages if message.error() is None]
            if len(kept) < len(messages):
                self._look_at_errors(messages)
            if only is not None:
                if kept:
                    arrived.setdefault(only, Arrived()).add(kept)
            else:
                by_topic: dict[str, list[Message]] = {}
                for message in kept:
                    by_topic.setdefault(message.topic() or "", []).append(message)
                for topic, found in by_topic.items():
                    arrived.setdefault(topic, Arrived()).add(found)
            left -= asked
            if len(messages) < asked:
                break
        return arrived

    def _consumed(self, most: int, seconds: float) -> list[Message]:
        from confluent_kafka import KafkaException  # noqa: PLC0415 - an extra

        try:
            return self.consumer.consume(most, seconds)
        except KafkaException as error:
            raise SourceError(self._name, error.args[0].str()) from error

    def _look_at_errors(self, messages: list[Message]) -> None:
        """Note the ends of partitions among messages, and raise what is an error."""
        from confluent_kafka import KafkaError  # noqa: PLC0415 - an extra

        ends = self._new_ends
        for message in messages:
            wrong = message.error()
            if wrong is None:
                continue
            partition = (message.topic() or "", message.partition())
            code = wrong.code()
            if code == KafkaError._PARTITION_EOF:  # noqa: SLF001 - librdkafka's own name
                ended = message.offset()
                if ended is not None:
                    ends[partition] = ended
            elif code in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):  # noqa: SLF001
                raise lost(self._name, partition, self._next.get(partition, -1), wrong.str())
            elif code in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC):  # noqa: SLF001
                raise lost(self._name, partition, self._next.get(partition, -1), "it is gone")
            elif wrong.retriable() or code == KafkaError._TRANSPORT:  # noqa: SLF001
                logger.warning("%s: %s", self._name, wrong.str())
            else:
                raise SourceError(self._name, wrong.str())

    def _batches(self, arrived: Mapping[str, Arrived]) -> Iterator[Messages]:
        """Yield the messages of each topic and note how far its partitions were read."""
        if arrived:
            self._last_answer = time.monotonic()
        for topic, found in arrived.items():
            if found:
                yield self._of_topic(found.messages(topic))

    def _decoded(self, found: Messages) -> Iterator[Event]:
        """Yield what messages say; only one partition alone has schemas in their order."""
        for event in self._wanted.decoder(found.topic)(found):
            if isinstance(event, RowChanges) and self._counts[found.topic] > 1:
                yield replace(event, schema=replace(event.schema, is_unordered=True))
            else:
                yield event

    def _of_topic(self, found: Messages) -> Messages:
        partitions, offsets = found.partitions, found.offsets
        last = np.flatnonzero(np.diff(partitions, append=-1))
        for index in last.tolist():
            self._next[found.topic, int(partitions[index])] = int(offsets[index]) + 1
        size = sum(len(value) for value in found.values if value is not None)
        self._batch = max(1, min(self._most, _BATCH_BYTES * len(found) // max(size, 1)))
        newest = int(found.timestamps.max())
        if newest > 0:
            self._newest_millis = max(self._newest_millis or 0, newest)
        return found

    def _boundary(self) -> Boundary:
        from confluent_kafka import TopicPartition  # noqa: PLC0415 - an extra

        behind = 0
        for partition, ended in self._new_ends.items():
            # Markers of transactions are passed without a message.
            self._next[partition] = max(ended, self._next[partition])
            self._ends[partition] = ended
        self._new_ends.clear()
        for partition, offset in self._next.items():
            found = self.consumer.get_watermark_offsets(TopicPartition(*partition), cached=True)
            if found is not None and found[1] > offset:
                behind += found[1] - offset
        # Ends that were reached before all brokers were gone may have moved.
        is_all = self._silent is None and all(map(self._is_at_end, self._next))
        return Boundary(
            position=self._position(self._next),
            phase=Phase.CAUGHT_UP if is_all else Phase.STREAM,
            seen_millis=self._newest_millis,
            behind=behind,
            behind_unit="messages",
        )

    def _look_around(self) -> None:
        """Look for new partitions and topics now and then, and whether brokers are there at all."""
        now = time.monotonic()
        is_lost = self._silent is not None or self._brokers.are_down
        pause = _AGAIN_SECONDS if is_lost else _DISCOVERY_SECONDS
        if now - self._looked < pause:
            return
        self._looked = now
        try:
            metadata = self._metadata(_SECOND)
        except _UnansweredError as error:
            if now - self._last_answer > _PATIENCE_SECONDS:
                raise
            self._silent = str(error)
            return
        self._silent, self._brokers.are_down = None, False
        partitions = self._partitions(metadata)
        known = set(self._next)
        gone = known - set(partitions)
        if gone:
            partition = min(gone)
            raise lost(self._name, partition, self._next[partition], "it is gone")
        self._look_at_ids()
        new = [partition for partition in partitions if partition not in known]
        if new:
            logger.info("%s: new partitions %s", self._name, new)
            self._assign(self._next | {partition: self._range(partition).low for partition in new})
