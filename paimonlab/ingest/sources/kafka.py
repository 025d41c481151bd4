"""Topics of Kafka as a source: assigned, never subscribed; positions are the job's.

Only committed messages are read. New partitions and topics are looked for every thirty seconds and
read from their beginning. What a broker lost before it was read is an error.

Source: Apache Kafka's protocol by librdkafka; apache/paimon@1.3.1 ``KafkaActionUtils`` for starts.
"""

from __future__ import annotations

import logging
import os
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from paimonlab.errors import SourceError, UnsupportedError
from paimonlab.ingest.changes import (
    Boundary,
    Event,
    JsonValue,
    Phase,
    RowChanges,
    SourceSchema,
)
from paimonlab.ingest.formats import Decode, FormatSettings, Messages, Registry, decoder_of
from paimonlab.ingest.formats.messages import METADATA_TYPES, UNKNOWN_TIME
from paimonlab.ingest.sources.kafka_positions import (
    Offsets,
    Partition,
    Range,
    Start,
    continued,
    from_json,
    lost,
    specific,
    start_of,
    to_json,
)
from paimonlab.secrets import hides_secrets
from paimonlab.spec.types.data_types import DataType

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, Message

logger = logging.getLogger(__name__)

_OURS = {
    "bootstrap.servers": "give it to kafka()",
    "group.id": "give it as group=",
    "enable.auto.commit": "positions are in the job's notes",
    "enable.auto.offset.store": "positions are in the job's notes",
    "auto.offset.reset": "a lost offset is an error",
    "isolation.level": "only committed messages are read",
    "enable.partition.eof": "it says when all is read",
}
_SECRETS = (
    "sasl.password",
    "ssl.key.password",
    "ssl.keystore.password",
    "sasl.oauthbearer.client.secret",
)
_DISCOVERY_SECONDS = 30.0
_WAIT_SECONDS = 0.25
"""For messages, before a boundary says that there are none."""
_CONTACT_SECONDS = 8.0
_SECOND = 1.0
_PATIENCE_SECONDS = 60.0
"""Without any broker, before it is an error: brokers may start again meanwhile."""
_BATCH_BYTES = 8 << 20
_MOST_MESSAGES = 20_000
_FIRST_MESSAGES = 200
_SAMPLED = 1_000
"""Messages of each partition that `tables` reads."""
_SAMPLE_SECONDS = 10.0


@hides_secrets
@dataclass(frozen=True, kw_only=True)
class Kafka:
    """A cluster; `topic` and `topics` make sources of it. Nothing is asked of it before."""

    bootstrap: str
    """``host:port``, several with commas."""
    group: str | None = None
    """Consumer group that positions are copied to, for monitoring; None: to none."""
    registry: Registry | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    """Of librdkafka (``security.protocol`` …)."""
    password_env: str | None = None
    """Environment variable with ``sasl.password``."""

    def __post_init__(self) -> None:
        for name in self.options:
            if name in _OURS:
                raise UnsupportedError(f"option {name!r} of Kafka", _OURS[name])
            if name in _SECRETS:
                raise UnsupportedError(
                    f"option {name!r} of Kafka in the text of a program",
                    "put it into the environment and name that: password_env=",
                )

    def topic(
        self,
        name: str | Sequence[str],
        *,
        format: str,
        start: str | datetime | Mapping[int, int] = "earliest",
        key_format: str | None = None,
        columns: Mapping[str, str] | None = None,
        type_mapping: Sequence[str] = (),
        avro_schema: str | None = None,
        delimiter: str = ",",
    ) -> KafkaSource:
        """Make a source of one topic or several.

        Parameters
        ----------
        name
            Of the topic; a list of several.
        format
            ``debezium-json``, ``debezium-avro``, ``debezium-bson``, ``canal-json``,
            ``maxwell-json``, ``ogg-json``, ``aws-dms-json``, ``aliyun-json``, ``json``, ``csv`` or
            ``avro``.
        start
            Where to begin: ``earliest``, ``latest``, ``group`` (what the group committed), a time
            with zone, or offsets by partition. A job that runs again goes on where it was.
        key_format
            ``json``: the columns of the Kafka key are those of the primary key; ``none``: they are
            not; None: they are, where messages name no key and the Kafka key is a JSON object.
        columns
            Types by name, ``{"id": "BIGINT"}``, for formats without types; they win over what
            messages say. CSV needs all columns, in order.
        type_mapping
            As Paimon's actions have it: ``tinyint1-not-bool``, ``to-string`` …
        avro_schema
            Of ``avro`` without registry, as JSON.
        delimiter
            Of ``csv``.

        Raises
        ------
        UnsupportedError
            For formats and settings that there are not.
        """
        names = (name,) if isinstance(name, str) else tuple(name)
        settings = self._settings(columns, key_format, type_mapping, avro_schema, delimiter)
        return KafkaSource(self, names, None, format, settings, start_of(start))

    def topics(
        self,
        pattern: str,
        *,
        format: str,
        start: str | datetime = "earliest",
        key_format: str | None = None,
        columns: Mapping[str, str] | None = None,
        type_mapping: Sequence[str] = (),
        avro_schema: str | None = None,
        delimiter: str = ",",
    ) -> KafkaSource:
        """Make a source of all topics whose whole name matches a regular expression.

        Topics that appear later are read from their beginning. Other parameters are those of
        `topic`.
        """
        try:
            compiled = re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
        settings = self._settings(columns, key_format, type_mapping, avro_schema, delimiter)
        return KafkaSource(self, (), compiled, format, settings, start_of(start))

    def _settings(
        self,
        columns: Mapping[str, str] | None,
        key_format: str | None,
        type_mapping: Sequence[str],
        avro_schema: str | None,
        delimiter: str,
    ) -> FormatSettings:
        return FormatSettings(
            columns=dict(columns or {}),
            key_format=key_format,
            type_mapping=frozenset(type_mapping),
            registry=self.registry,
            avro_schema=avro_schema,
            delimiter=delimiter,
        )

    def _configuration(self, **more: Any) -> dict[str, Any]:
        given: dict[str, Any] = dict(self.options)
        if self.password_env is not None:
            password = os.environ.get(self.password_env)
            if password is None:
                raise SourceError(
                    "kafka", f"{self.password_env} is not in the environment: Kafka's password"
                )
            given["sasl.password"] = password
        return {
            # Smaller queues than librdkafka's: who reads must not hold hundreds of MB.
            "queued.max.messages.kbytes": 32 << 10,
            "fetch.wait.max.ms": 100,
            "socket.timeout.ms": 10_000,
            **given,
            "bootstrap.servers": self.bootstrap,
            "group.id": self.group or f"paimonlab-{uuid.uuid4()}",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "client.id": "paimonlab",
            # What fails is raised or logged here; librdkafka would log each attempt.
            "log_level": 0,
            "error_cb": _note,
            **more,
        }


def _note(error: KafkaError) -> None:
    logger.info("kafka: %s", error.str())


def kafka(
    bootstrap: str,
    *,
    group: str | None = None,
    registry: str | Registry | None = None,
    options: Mapping[str, str] | None = None,
    password_env: str | None = None,
) -> Kafka:
    """Name a cluster of Kafka.

    Parameters
    ----------
    bootstrap
        ``host:port``; several with commas.
    group
        Consumer group that positions are copied to, for monitoring. They are never read from it but
        with ``start="group"``.
    registry
        Schema registry of formats in Avro, ``http://host:port``.
    options
        Of librdkafka, such as ``{"security.protocol": "SASL_SSL", "sasl.username": "me"}``.
    password_env
        Name of the environment variable that has the password (``sasl.password``).

    Examples
    --------
    >>> kafka("127.0.0.1:9092").topic("orders", format="debezium-json")
    <paimonlab kafka 127.0.0.1:9092 orders>
    """
    found = Registry(url=registry) if isinstance(registry, str) else registry
    return Kafka(
        bootstrap=bootstrap,
        group=group,
        registry=found,
        options=dict(options or {}),
        password_env=password_env,
    )


class KafkaSource:
    """Topics of a cluster, to be read by a job; see `Kafka.topic`."""

    def __init__(
        self,
        cluster: Kafka,
        topics: tuple[str, ...],
        pattern: re.Pattern[str] | None,
        format: str,
        settings: FormatSettings,
        start: Start,
    ) -> None:
        self._cluster = cluster
        self._topics = topics
        self._pattern = pattern
        self._format = format
        self._settings = settings
        self._start = start
        self._consumer: Consumer | None = None
        self._decoders: dict[str, Decode] = {}
        self._decoder("")  # settings that do not do are refused at once

    def __repr__(self) -> str:
        return f"<paimonlab {self.name}>"

    @property
    def name(self) -> str:
        """The cluster and the topics."""
        what = ",".join(self._topics) if self._pattern is None else f"/{self._pattern.pattern}/"
        return f"kafka {self._cluster.bootstrap} {what}"

    @property
    def metadata_types(self) -> Mapping[str, DataType]:
        """What is known of rows beside their values."""
        return METADATA_TYPES

    def tables(self) -> Mapping[str, SourceSchema]:
        """Return what the first messages from the start of each partition say of their tables.

        Raises
        ------
        SourceError
            If no broker answers, or a topic is missing.
        """
        reader = _Reader(self, _consumer(self._cluster))
        try:
            offsets = reader.first_offsets(None)
            found: dict[str, SourceSchema] = {}
            for event in reader.sample(offsets):
                if isinstance(event, RowChanges):
                    found[event.table] = _joined(found.get(event.table), event.schema)
        finally:
            reader.close()
        return found

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        """Yield rows and events after a position; see `paimonlab.ingest.changes.Source.read`."""
        reader = _Reader(self, _consumer(self._cluster))
        self._consumer = reader.consumer
        try:
            for event in reader.events(position):
                table = getattr(event, "table", None)
                if table is None or wanted(table):
                    yield event
        finally:
            self._consumer = None
            reader.close()

    def acknowledge(self, position: JsonValue) -> None:
        """Copy a position to the consumer group, if there is one."""
        if self._cluster.group is None or position is None:
            return
        from confluent_kafka import KafkaException, TopicPartition  # noqa: PLC0415 - an extra

        offsets = [
            TopicPartition(topic, number, offset)
            for (topic, number), offset in from_json(position).items()
        ]
        own = self._consumer is None
        consumer = _consumer(self._cluster) if self._consumer is None else self._consumer
        try:
            if own:
                consumer.commit(offsets=offsets, asynchronous=False)
            else:
                consumer.commit(offsets=offsets, asynchronous=True)
        except KafkaException as error:
            logger.warning("%s: position not copied to group: %s", self.name, error)
        finally:
            if own:
                consumer.close()

    def close(self) -> None:
        """Do nothing: what is open is open while `read` is."""

    def _decoder(self, topic: str) -> Decode:
        found = self._decoders.get(topic)
        if found is None:
            found = self._decoders[topic] = decoder_of(self._format, self._settings)
        return found

    def _wants(self, topic: str) -> bool:
        if self._pattern is None:
            return topic in self._topics
        return not topic.startswith("__") and self._pattern.fullmatch(topic) is not None


def _consumer(cluster: Kafka, **more: Any) -> Consumer:
    try:
        from confluent_kafka import Consumer, KafkaException  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UnsupportedError(
            "reading Kafka without confluent-kafka", "pip install 'paimonlab[kafka]'"
        ) from error
    try:
        return Consumer(cluster._configuration(**more))  # noqa: SLF001 - the same module
    except KafkaException as error:
        raise SourceError(f"kafka {cluster.bootstrap}", f"{error.args[0]}") from error


def _joined(before: SourceSchema | None, after: SourceSchema) -> SourceSchema:
    """Return the newer schema of a table; if it lists what was seen, with what else was seen."""
    if before is None or not after.is_partial:
        return after
    new = [column for column in after.columns if before.column(column.name) is None]
    return replace(
        before,
        columns=(*before.columns, *new),
        primary_keys=after.primary_keys or before.primary_keys,
    )


class _Reader:
    """One reading: a consumer, and how far it came."""

    def __init__(self, source: KafkaSource, consumer: Consumer) -> None:
        self.consumer = consumer
        self._source = source
        self._name = source.name
        self._next: Offsets = {}
        self._ends: Offsets = {}
        """Where each partition ended when its end was reached last."""
        self._new_ends: Offsets = {}
        """Of the messages that were consumed last."""
        self._newest_millis: int | None = None
        self._batch = _FIRST_MESSAGES
        self._most = _MOST_MESSAGES
        self._looked = 0.0
        self._last_answer = time.monotonic()

    def close(self) -> None:
        self.consumer.close()

    # Where to begin

    def first_offsets(self, position: JsonValue) -> Offsets:
        """Return the next offset of each partition; see `Start`."""
        from confluent_kafka import OFFSET_END, TopicPartition  # noqa: PLC0415 - an extra

        partitions = self._partitions(self._metadata(_CONTACT_SECONDS))
        ranges = {partition: self._range(partition) for partition in partitions}
        self._looked = time.monotonic()
        start = self._source._start  # noqa: SLF001 - the same module
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

        if self._source._cluster.group is None:  # noqa: SLF001 - the same module
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
        return self._ask(lambda: self.consumer.list_topics(timeout=timeout))

    def _partitions(self, metadata: Any) -> list[Partition]:
        """Return all partitions of the wanted topics."""
        topics = {
            name: topic
            for name, topic in metadata.topics.items()
            if self._source._wants(name) and topic.error is None  # noqa: SLF001 - the same module
        }
        missing = [name for name in self._source._topics if name not in topics]  # noqa: SLF001
        if missing:
            raise SourceError(self._name, f"there is no topic {missing[0]!r}")
        return sorted(
            (name, number) for name, topic in topics.items() for number in topic.partitions
        )

    def _range(self, partition: Partition) -> Range:
        from confluent_kafka import TopicPartition  # noqa: PLC0415 - an extra

        asked = TopicPartition(*partition)
        low, high = self._ask(
            lambda: self.consumer.get_watermark_offsets(asked, timeout=_CONTACT_SECONDS)
        )
        return Range(low, high)

    def _ask(self, question: Callable[[], Any]) -> Any:
        from confluent_kafka import KafkaException  # noqa: PLC0415 - an extra

        try:
            answer = question()
        except KafkaException as error:
            raise SourceError(self._name, error.args[0].str()) from error
        self._last_answer = time.monotonic()
        return answer

    # Reading on

    def events(self, position: JsonValue) -> Iterator[Event]:
        """Yield what comes after a position, without end."""
        self._assign(self.first_offsets(position))
        while True:
            messages = self._consume()
            for batch in self._batches(messages):
                yield from self._source._decoder(batch.topic)(batch)  # noqa: SLF001
            yield self._boundary()
            self._look_around()

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
                yield from self._source._decoder(batch.topic)(batch)  # noqa: SLF001
                for number in np.unique(batch.partitions).tolist():
                    left[batch.topic, number] -= int((batch.partitions == number).sum())
            self._boundary()

    def _is_at_end(self, partition: Partition) -> bool:
        return self._ends.get(partition) == self._next[partition]

    def _assign(self, offsets: Offsets) -> None:
        from confluent_kafka import TopicPartition  # noqa: PLC0415 - an extra

        self._next = dict(offsets)
        self._ends = {}
        self.consumer.assign(
            [TopicPartition(*partition, offset) for partition, offset in offsets.items()]
        )

    def _consume(self) -> list[Message]:
        """Return messages; note the ends of partitions and raise what is an error."""
        from confluent_kafka import KafkaError, KafkaException  # noqa: PLC0415 - an extra

        try:
            found = self.consumer.consume(self._batch, _WAIT_SECONDS)
        except KafkaException as error:
            raise SourceError(self._name, error.args[0].str()) from error
        kept = []
        ends = self._new_ends
        for message in found:
            wrong = message.error()
            if wrong is None:
                kept.append(message)
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
        return kept

    def _batches(self, messages: list[Message]) -> Iterator[Messages]:
        """Take messages apart by topic; each partition's stay together, in order."""
        if not messages:
            return
        self._last_answer = time.monotonic()
        by_topic: dict[str, list[Message]] = {}
        for message in messages:
            by_topic.setdefault(message.topic(), []).append(message)
        for topic, found in by_topic.items():
            yield self._of_topic(topic, found)

    def _of_topic(self, topic: str, found: list[Message]) -> Messages:
        partitions = np.fromiter((message.partition() for message in found), np.int32, len(found))
        if (np.diff(partitions) < 0).any():
            order = np.argsort(partitions, kind="stable")
            found = [found[index] for index in order.tolist()]
            partitions = partitions[order]
        offsets = np.fromiter((message.offset() for message in found), np.int64, len(found))
        times = np.fromiter((message.timestamp()[1] for message in found), np.int64, len(found))
        values = [message.value() for message in found]
        last = np.flatnonzero(np.diff(partitions, append=-1))
        for index in last.tolist():
            partition = (topic, int(partitions[index]))
            self._next[partition] = int(offsets[index]) + 1
        size = sum(len(value) for value in values if value is not None)
        self._batch = max(1, min(self._most, _BATCH_BYTES * len(found) // max(size, 1)))
        newest = int(times.max())
        if newest > 0:
            self._newest_millis = max(self._newest_millis or 0, newest)
        return Messages(
            topic=topic,
            keys=[message.key() for message in found],
            values=values,
            partitions=partitions,
            offsets=offsets,
            timestamps=np.where(times < 0, UNKNOWN_TIME, times),
        )

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
        is_all = all(map(self._is_at_end, self._next))
        return Boundary(
            position=to_json(self._next),
            phase=Phase.CAUGHT_UP if is_all else Phase.STREAM,
            seen_millis=self._newest_millis,
            behind=behind,
            behind_unit="messages",
        )

    def _look_around(self) -> None:
        """Look for new partitions and topics now and then, and whether brokers are there at all."""
        now = time.monotonic()
        if now - self._looked < _DISCOVERY_SECONDS:
            return
        self._looked = now
        try:
            metadata = self._metadata(_SECOND)
        except SourceError:
            if now - self._last_answer > _PATIENCE_SECONDS:
                raise
            return
        partitions = self._partitions(metadata)
        known = set(self._next)
        gone = known - set(partitions)
        if gone:
            partition = min(gone)
            raise lost(self._name, partition, self._next[partition], "it is gone")
        new = [partition for partition in partitions if partition not in known]
        if new:
            logger.info("%s: new partitions %s", self._name, new)
            self._assign(self._next | {partition: self._range(partition).low for partition in new})
