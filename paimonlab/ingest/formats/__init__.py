"""Messages of Kafka as rows of tables: a format each, as functions of values.

Answers what messages say: rows in columns with their kinds, types and keys, and what cannot be
read. Formats know nothing of Kafka's protocol, of positions that are kept, or of tables of Paimon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from paimonlab.errors import UnsupportedError, close_matches
from paimonlab.ingest.changes import Event
from paimonlab.ingest.formats.aliyun_json import AliyunJson
from paimonlab.ingest.formats.canal_json import CanalJson
from paimonlab.ingest.formats.csv_rows import CsvRows
from paimonlab.ingest.formats.debezium_avro import DebeziumAvro, PlainAvro
from paimonlab.ingest.formats.debezium_bson import DebeziumBson
from paimonlab.ingest.formats.debezium_json import DebeziumJson
from paimonlab.ingest.formats.dms_json import DmsJson
from paimonlab.ingest.formats.maxwell_json import MaxwellJson
from paimonlab.ingest.formats.messages import Messages
from paimonlab.ingest.formats.ogg_json import OggJson
from paimonlab.ingest.formats.plain_json import PlainJson
from paimonlab.ingest.formats.registry import Registry
from paimonlab.ingest.formats.settings import FormatSettings

__all__ = ["FORMATS", "Decode", "FormatSettings", "Messages", "Registry", "decoder_of"]

Decode: TypeAlias = Callable[[Messages], Iterator[Event]]
"""From messages of one topic to `RowChanges`, `Truncated` and `Unreadable`; messages without rows
(tombstones, statements) give nothing. The same messages always give the same events."""

FORMATS: dict[str, Callable[[FormatSettings], Decode]] = {
    "debezium-json": DebeziumJson,
    "json": PlainJson,
    "canal-json": CanalJson,
    "maxwell-json": MaxwellJson,
    "ogg-json": OggJson,
    "aws-dms-json": DmsJson,
    "aliyun-json": AliyunJson,
    "csv": CsvRows,
    "debezium-avro": DebeziumAvro,
    "avro": PlainAvro,
    "debezium-bson": DebeziumBson,
}
"""By the names that Paimon's actions give them; ``csv`` and ``avro`` are rows alone."""


def decoder_of(name: str, settings: FormatSettings) -> Decode:
    """Return a decoder of a format, which remembers schemas it saw.

    Raises
    ------
    UnsupportedError
        If there is no such format, or a setting is missing.
    """
    make = FORMATS.get(name)
    if make is None:
        raise UnsupportedError(
            f"format = {name!r}",
            f"formats are {', '.join(FORMATS)}.{close_matches(name, FORMATS)}",
        )
    return make(settings)
