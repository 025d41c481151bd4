"""Topics of Kafka as a source: assigned, never subscribed; positions are the job's.

Source: Apache Kafka's protocol by librdkafka; apache/paimon@1.3.1 ``KafkaActionUtils`` for starts.
"""

from __future__ import annotations

import logging
import os
import re
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from paimonlab.errors import SourceError, UnsupportedError
from paimonlab.ingest.changes import (
    Boundary,
    Event,
    JsonValue,
    RowChanges,
    SourceSchema,
    SourceSchemaChange,
)
from paimonlab.ingest.formats import Decode, FormatSettings, Registry, decoder_of
from paimonlab.ingest.formats.messages import METADATA_TYPES
from paimonlab.ingest.sources.kafka_positions import (
    Start,
    begin_of,
    from_json,
    ids_of,
    read_again,
    since,
    start_of,
    to_json,
    to_read_again,
    with_ids,
)
from paimonlab.ingest.sources.kafka_reader import Brokers, Reader, Wanted, come_again
from paimonlab.ingest.sources.login_options import check_options
from paimonlab.ingest.type_words import of_tables
from paimonlab.secrets import hides_secrets
from paimonlab.spec.types.data_types import DataType

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError
    from confluent_kafka.admin import AdminClient

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
_IDS_SECONDS = 2.0
_NO_IDS = ("None", "A" * 22)
"""What brokers tell that know of no ids: all bits 0."""
_SECRETS = (
    "sasl.password",
    "ssl.key.password",
    "ssl.keystore.password",
    "sasl.oauthbearer.client.secret",
)


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
        check_options(
            "Kafka",
            self.options,
            ours=_OURS,
            secrets=_SECRETS,
            instead="put it into the environment and name that: password_env=",
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
        self._asking: Reader | None = None
        self._admin: AdminClient | None = None
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
    def table_mapping(self) -> frozenset[str]:
        """What was told of tables by ``type_mapping``."""
        return of_tables(self._settings.type_mapping)

    @property
    def metadata_types(self) -> Mapping[str, DataType]:
        """What is known of rows beside their values."""
        return METADATA_TYPES

    @property
    def lists_all_tables(self) -> bool:
        """False: `tables` has those that the first messages are of."""
        return False

    def tables(self) -> Mapping[str, SourceSchema]:
        """Return what the first messages from the start of each partition say of their tables.

        Raises
        ------
        SourceError
            If no broker answers, or a topic is missing.
        """
        reader = self._reader()
        try:
            offsets = reader.first_offsets(None)
            found: dict[str, SourceSchema] = {}
            for event in reader.sample(offsets):
                table = getattr(event, "table", None)
                before = found.get(table or "")
                if before is not None and before.refusal is not None:
                    continue  # rows after those are not taken, either
                if isinstance(event, RowChanges):
                    found[event.table] = _joined(before, event.schema)
                elif isinstance(event, SourceSchemaChange) and event.after is not None:
                    found.setdefault(event.table, event.after)
        finally:
            reader.close()
        return found

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        """Yield rows and events after a position; see `paimonlab.ingest.changes.Source.read`."""
        if read_again(position):
            self._decoders.clear()  # they know what came after the messages that come again
        reader = self._reader()
        self._consumer = reader.consumer
        try:
            for event in reader.events(position):
                table = getattr(event, "table", None)
                if table is None or wanted(table):
                    yield event
        finally:
            self._consumer = None
            reader.close()

    def before_rows(self, position: JsonValue, tables: Collection[str]) -> JsonValue:
        """Return a position from which all messages of tables come again; see `RereadableSource`.

        They are those from where the job began, also at ``latest``; what they say of other tables
        is passed over.

        Raises
        ------
        SourceError
            If the first of them were deleted.
        UnsupportedError
            If nothing says where the job began.
        """
        if self._start.at in ("latest", "group") and begin_of(position) is None:
            raise UnsupportedError(
                f"reading tables of {self.name} anew",
                f"it began at start = {self._start.at!r} of an older release, which did not note "
                "the offsets: read it with a job of another name and start='earliest', a time or "
                "offsets, and drop this one",
            )
        self._asked().whole_offsets(position)
        return to_read_again(position, tables)

    def beginning(self) -> JsonValue:
        """Return the offsets at which reading begins."""
        reader = self._asked()
        offsets = reader.first_offsets(None)
        return with_ids(since(to_json(offsets), reader.begin(offsets)), reader.ids(None))

    def newest(
        self, position: JsonValue, *, most: int | None = None, until: JsonValue = None
    ) -> JsonValue:
        """Return offsets up to which all is there; see `PartitionedSource.newest`.

        New partitions are in it, and are read from their beginning.
        """
        if read_again(position):
            same = since(to_json(from_json(position)), begin_of(position))
            return with_ids(same, ids_of(position))
        reader = self._asked()
        newest = reader.newest(position, most=most, until=until)
        return with_ids(since(to_json(newest), begin_of(position)), reader.ids(position))

    def parts(self, begin: JsonValue, end: JsonValue) -> Sequence[JsonValue]:
        """Return ``[topic, number, offset, end]`` of each partition that has something.

        Where tables are read anew it is each partition, from where the job began, and the tables.
        """
        first = from_json(begin)
        found: list[JsonValue] = []
        if again := read_again(begin):
            offsets, tables = self._asked().whole_offsets(begin), list[JsonValue](sorted(again))
            return [[*one, offsets[one], stop, tables] for one, stop in first.items()]
        for partition, stop in from_json(end).items():
            start = first.get(partition)
            if start is None:
                start = self._asked().first_of(partition)
            if start < stop:
                found.append([*partition, start, stop])
        return found

    def read_part(self, part: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        """Yield what a partition has between two offsets."""
        assert isinstance(part, list)
        topic, number, begin, end, *of = part
        reader = self._reader()
        try:
            for event in reader.part((str(topic), int(number)), int(begin), int(end)):  # type: ignore[arg-type]
                if of and not isinstance(event, Boundary):
                    found = come_again(event, of[0])  # type: ignore[arg-type]
                else:
                    found = event
                table = getattr(found, "table", None)
                if found is not None and (table is None or wanted(table)):
                    yield found
        finally:
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
        """Close what asked for offsets; what reads is open while `read` is."""
        if self._asking is not None:
            self._asking.close()
            self._asking = None
        self._admin = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made of; another process has its own connections."""
        made = (self._cluster, self._topics, self._pattern, self._format, self._settings)
        return KafkaSource, (*made, self._start)

    def _asked(self) -> Reader:
        """Return what asks for offsets, and is not read with."""
        if self._asking is None:
            self._asking = self._reader()
        return self._asking

    def _reader(self) -> Reader:
        wanted = Wanted(
            name=self.name,
            topics=self._topics,
            wants=self._wants,
            start=self._start,
            has_group=self._cluster.group is not None,
            decoder=self._decoder,
            ids=self._ids,
        )
        brokers = Brokers()
        return Reader(wanted, _consumer(self._cluster, error_cb=brokers.note), brokers)

    def _ids(self, topics: Collection[str]) -> Mapping[str, str]:
        """Ask a cluster which topics it has; nothing is known of those that it does not tell."""
        from confluent_kafka import KafkaException, TopicCollection  # noqa: PLC0415 - an extra
        from confluent_kafka.admin import AdminClient  # noqa: PLC0415 - the same

        if not topics:
            return {}
        if self._admin is None:
            self._admin = AdminClient(self._cluster._configuration())  # noqa: SLF001 - this module
        found = {}
        asked = self._admin.describe_topics(
            TopicCollection([*topics]), request_timeout=_IDS_SECONDS
        )
        for topic, answer in asked.items():
            try:
                found[topic] = str(answer.result(_IDS_SECONDS).topic_id)
            except (KafkaException, TimeoutError) as error:  # no right, gone, or too old
                logger.info("%s: %s is not described: %s", self.name, topic, error)
        return {topic: one for topic, one in found.items() if one not in _NO_IDS}

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
