"""What users set of a format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.formats.connect_types import ReadColumn, declared_columns
from paimonlab.ingest.formats.message_keys import key_names
from paimonlab.ingest.formats.registry import Registry
from paimonlab.ingest.type_words import OF_ACTIONS, checked_words
from paimonlab.spec.types.data_types import DataType
from paimonlab.spec.types.text import parse_type

KEY_FORMATS = (None, "json", "none")


@dataclass(frozen=True, kw_only=True)
class FormatSettings:
    """Settings of a format; see `paimonlab.ingest.sources.kafka.Kafka.topic`."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Types of columns by name, as text; they win over what messages say."""
    key_format: str | None = None
    """``json``: columns of the key are those of the Kafka key. ``none``: it is not looked at. None:
    ``json`` where the format has no keys of its own and the key is a JSON object."""
    type_mapping: frozenset[str] = frozenset()
    """Names as Paimon's actions have them."""
    registry: Registry | None = None
    """Where schemas of Avro are."""
    avro_schema: str | None = None
    """Of plain Avro without registry."""
    delimiter: str = ","
    """Of CSV."""

    def __post_init__(self) -> None:
        if self.key_format not in KEY_FORMATS:
            raise UnsupportedError(f"key_format = {self.key_format!r}", "use 'json' or 'none'")
        checked_words(self.type_mapping, OF_ACTIONS, "Kafka")

    @cached_property
    def declared(self) -> dict[str, DataType]:
        """Types of columns by name."""
        return {name: parse_type(text) for name, text in self.columns.items()}

    @cached_property
    def read_columns(self) -> dict[str, ReadColumn]:
        """The declared columns and how their texts are read."""
        return declared_columns(self.declared)

    def keys_of(self, key: bytes | None) -> tuple[str, ...]:
        """Return the columns of a Kafka key, if it is to be looked at."""
        return () if self.key_format == "none" else key_names(key)
