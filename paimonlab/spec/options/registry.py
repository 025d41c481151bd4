"""All options there are: kind, default, and whether paimonlab obeys them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, TypeAlias, cast

from msgspec import Struct

from paimonlab.spec.options import documented as option_table
from paimonlab.spec.options.accepted import ACCEPTED
from paimonlab.spec.options.grammar import PARSERS, Kind

Status: TypeAlias = Literal["implemented", "accepted", "unsupported"]
Operation: TypeAlias = Literal["create", "read", "write"]

_NO_DEFAULT = "-"
_ALL: frozenset[Operation] = frozenset({"create", "read", "write"})
_READING: frozenset[Operation] = frozenset({"create", "read"})
_WRITING: frozenset[Operation] = frozenset({"create", "write"})
_NO_OPERATION: frozenset[Operation] = frozenset()

_GROUPS: tuple[tuple[str, Status, frozenset[Operation]], ...] = (
    (option_table.IMPLEMENTED, "implemented", _ALL),
    (option_table.UNSUPPORTED, "unsupported", _ALL),
    (option_table.UNSUPPORTED_FOR_READING, "unsupported", _READING),
    (option_table.UNSUPPORTED_FOR_WRITING, "unsupported", _WRITING),
    (ACCEPTED, "accepted", _NO_OPERATION),
)
_ONLY_FOR_WRITING = {
    *("changelog-producer", "file.compression", "manifest.compression"),
    *("partition.expiration-strategy", "lookup.cache-spill-compression"),
    "metadata.iceberg.storage",
}

IMMUTABLE_KEYS = frozenset(
    {
        *("type", "bucket-key", "bucket-function.type", "data-file.path-directory"),
        *("merge-engine", "sequence.snapshot-ordering", "aggregation.remove-record-on-delete"),
        *("partial-update.remove-record-on-delete", "rowkind.field", "primary-key"),
        *("partial-update.remove-record-on-sequence-group", "primary-key.nullable", "partition"),
        *("ignore-delete", "ignore-update-before"),
        *("dynamic-bucket.initial-buckets", "force-lookup", "row-tracking.enabled"),
        *("data-evolution.enabled", "index-file-in-data-file-dir", "blob-field"),
        *("blob-descriptor-field", "blob-view-field", "pk-clustering-override"),
    }
)
"""What cannot be changed once the table has a snapshot."""

INSTEAD: Mapping[str, str] = {
    "commit.callbacks": "pass Python callables instead: "
    "table.with_commit_callbacks(…), table.commit(…, callbacks=[…])",
}
"""What to do instead of setting an option that cannot be obeyed."""

FALLBACK_KEYS: Mapping[str, str] = {
    "write.compaction-skip": "write-only",
    "log.scan": "scan.mode",
    "log.scan.timestamp-millis": "scan.timestamp-millis",
    "changelog-producer.lookup-wait": "lookup-wait",
    "sink.clustering.by-columns": "clustering.columns",
    "sink.clustering.strategy": "clustering.strategy",
    "snapshot.expire.clean-empty-directories": "snapshot.clean-empty-directories",
    "delete-file.thread-num": "file-operation.thread-num",
    "first-row.ignore-delete": "ignore-delete",
    "deduplicate.ignore-delete": "ignore-delete",
    "partial-update.ignore-delete": "ignore-delete",
    "orc.write.batch-size": "write.batch-size",
    "parquet.variant.shreddingSchema": "variant.shreddingSchema",
    "blob.stored-descriptor-fields": "blob-descriptor-field",
}
"""Former keys and what they are called now."""


class OptionSpec(Struct, frozen=True):
    """What is known of an option."""

    key: str
    """``*`` stands for a name."""
    kind: Kind
    default: str | None
    status: Status
    refused_for: frozenset[Operation] = frozenset()
    """What a value that is not built stands in the way of."""
    values: tuple[str, ...] = ()
    """All values of an enumeration, in lower case."""
    accepted_values: tuple[str, ...] = ()
    """Those of an implemented enumeration that are built; (): every value."""

    @property
    def immutable(self) -> bool:
        """Whether it must stay as it is once the table has a snapshot."""
        return self.key in IMMUTABLE_KEYS

    def parse(self, text: str) -> Any:
        """Read a value.

        Raises
        ------
        ValueError
            If it is not one of this kind; the message says what would be.
        """
        value = PARSERS[self.kind](text)
        if self.values and value not in self.values:
            raise ValueError(f"not one of {', '.join(self.values)}")
        return value

    def is_default(self, text: str) -> bool:
        """Whether a value equals the default."""
        return self.default is not None and self.parse(text) == self.parse(self.default)


def _read(line: str, status: Status, refused_for: frozenset[Operation]) -> OptionSpec:
    key, kind, default, *rest = re.split(r"\s{2,}", line.strip())
    marked = [value.lower() for value in rest[0].split("|")] if rest else []
    return OptionSpec(
        key=key,
        kind=cast("Kind", kind),
        default=None if default == _NO_DEFAULT else default,
        status=status,
        refused_for=_WRITING if key in _ONLY_FOR_WRITING else refused_for,
        values=tuple(value.rstrip("*") for value in marked),
        accepted_values=tuple(value.rstrip("*") for value in marked if value.endswith("*")),
    )


def _read_all() -> Iterator[OptionSpec]:
    for text, status, refused_for in _GROUPS:
        for line in text.strip().splitlines():
            yield _read(line, status, refused_for)


KNOWN_OPTIONS: Mapping[str, OptionSpec] = {spec.key: spec for spec in _read_all()}
"""By key; keys of families hold a ``*``."""


@cache
def _families() -> tuple[tuple[re.Pattern[str], OptionSpec], ...]:
    """Families of keys; the longest pattern first, so that the closest one is found."""
    specs = [spec for key, spec in KNOWN_OPTIONS.items() if "*" in key]
    specs.sort(key=lambda spec: -len(spec.key))
    return tuple((_key_pattern(spec.key), spec) for spec in specs)


def _key_pattern(key: str) -> re.Pattern[str]:
    return re.compile(re.escape(key).replace(r"\*", "(.+)"))


def find_option(key: str) -> OptionSpec | None:
    """Find what is known of a key, a former key or a member of a family; None: nothing.

    Examples
    --------
    >>> find_option("fields.amount.stats-mode").key
    'fields.*.stats-mode'
    """
    canonical = FALLBACK_KEYS.get(key, key)
    if "*" in key:
        return None
    if canonical in KNOWN_OPTIONS:
        return KNOWN_OPTIONS[canonical]
    return next((spec for pattern, spec in _families() if pattern.fullmatch(canonical)), None)
