from __future__ import annotations

import importlib
import pickle
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import paimonlab
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.formats.parquet.options import ParquetOptions
from paimonlab.spec.options.registry import FALLBACK_KEYS, IMMUTABLE_KEYS, Operation
from paimonlab.spec.options.table_options import (
    KNOWN_OPTIONS,
    Options,
    OptionSlice,
    check_known,
    check_supported,
    fields_of,
    find_option,
    option_field,
    parse_boolean,
    parse_duration_millis,
    parse_memory_size_bytes,
)


@dataclass(frozen=True)
class Keyed:
    primary_keys: tuple[str, ...] = ("id",)
    partition_keys: tuple[str, ...] = ()


class Example(OptionSlice):
    retries: int = option_field("commit.max-retries", "int", 10)
    wait_millis: int = option_field("commit.min-retry-wait", "duration", "10 ms")
    size_bytes: int | None = option_field("target-file-size", "memory", None)
    write_only: bool = option_field("write-only", "boolean", default=False)
    keys: tuple[str, ...] = option_field("sequence.field", "list", ())
    descending: bool = option_field(
        "sequence.field.sort-order", "enum", default=False, parse="descending".__eq__
    )
    modes: dict[str, str] = option_field("fields.*.stats-mode", "string", {})


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("0", 0),
        ("250", 250),
        ("250ms", 250),
        (" 10 s ", 10_000),
        ("2 MIN", 120_000),
        ("1 h", 3_600_000),
        ("7 days", 604_800_000),
        ("1500000 ns", 1),
        ("3 µs", 0),
        ("3000 micros", 3),
    ],
)
def test_durations(text: str, millis: int) -> None:
    assert parse_duration_millis(text) == millis


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1024", 1024),
        ("8 mb", 8 << 20),
        ("64KB", 64 << 10),
        ("2g", 2 << 30),
        ("1 tebibytes", 1 << 40),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_memory_size_bytes(text) == size


@pytest.mark.parametrize("text", ["", "ms", "-1 s", "1.5 s", "1 parsec", "1 s 2 ms"])
def test_what_is_no_duration_or_size_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration_millis(text)
    with pytest.raises(ValueError, match="not a size"):
        parse_memory_size_bytes(text)


def test_booleans_are_words() -> None:
    assert parse_boolean("TRUE")
    assert not parse_boolean(" false")
    with pytest.raises(ValueError, match="neither"):
        parse_boolean("1")


def test_a_slice_holds_what_was_set_and_defaults() -> None:
    options = Options(
        {
            "commit.max-retries": "3",
            "target-file-size": "1 kb",
            "write.compaction-skip": "true",
            "sequence.field": "a, b",
            "sequence.field.sort-order": "DESCENDING",
            "fields.a.b.stats-mode": "full",
            "unknown": "x",
        }
    )

    assert options.slice(Example) == Example(
        retries=3,
        size_bytes=1024,
        write_only=True,
        keys=("a", "b"),
        descending=True,
        modes={"a.b": "full"},
    )
    assert Options({}).slice(Example) == Example()
    assert Example().wait_millis == 10


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("commit.max-retries", "many"),
        ("commit.max-retries", "3000000000"),
        ("write-only", "yes"),
        ("target-file-size", "big"),
        ("sequence.field.sort-order", "upwards"),
    ],
)
def test_a_value_that_cannot_be_read_is_named_with_its_key(key: str, value: str) -> None:
    with pytest.raises(SchemaError, match=f"option '{key}' = '{value}'"):
        Options({key: value}).slice(Example)
    with pytest.raises(SchemaError, match=f"option '{key}' = '{value}'"):
        check_supported({key: value, "bucket": "1"}, Keyed(), "read")


def test_options_are_values() -> None:
    options = Options({"a": "1"})

    assert pickle.loads(pickle.dumps(options)) == options
    assert hash(options) == hash(Options({"a": "1"}))
    assert options.with_options({"a": "2"})["a"] == "2"
    assert options["a"] == "1"


def test_an_unknown_key_is_an_error_with_close_ones() -> None:
    with pytest.raises(
        SchemaError, match=r"'merge-engin' is not known\. Did you mean 'merge-engine'"
    ):
        check_known(["bucket", "merge-engin"])
    check_known(["fields.x.stats-mode", "parquet.page.size", "write.compaction-skip"])


def test_unknown_keys_of_others_stay_unread() -> None:
    check_supported({"bucket": "1", "future.option": "x"}, Keyed(), "write")


REFUSED: list[tuple[dict[str, str], str]] = [
    ({"pk-clustering-override": "true"}, "create read write"),
    ({"file.format": "csv"}, "create read write"),
    ({"type": "format-table"}, "create read write"),
    ({"fields.a.aggregate-function": "nested_partial_update"}, "create read write"),
    ({"fields.a.nested-sequence-field": "b"}, "create read write"),
    ({"file.compression": "brotli"}, "create write"),
    ({"manifest.compression": "deflate"}, "create write"),
    ({"partition.expiration-strategy": "custom"}, "create write"),
    ({"tag.callbacks": "a.B"}, "create write"),
    ({"batch-scan-mode": "compact-bucket-table"}, "create read"),
    ({"scan.primary-branch": "b"}, "create read write"),
    ({"consumer.changelog-only": "true"}, "create read"),
    ({"scan.partitions": "max_pt()"}, "create read"),
    ({"log.system": "kafka"}, "create write"),
    ({"data-evolution.row-sidecar.enabled": "true"}, "create write"),
    ({"parquet.bloom.filter.enabled": "true"}, "create write"),
]
ACCEPTED: list[dict[str, str]] = [
    {"bucket": "4", "merge-engine": "deduplicate", "file.format": "PARQUET"},
    {"num-sorted-run.compaction-trigger": "5", "snapshot.time-retained": "2 h"},
    {"snapshot.num-retained.max": "5", "compaction.size-ratio": "1"},
    {"changelog-producer": "none", "deletion-vectors.enabled": "false"},
    {"write-only": "true", "file.compression": "snappy", "sequence.field": "v"},
    {"sink.parallelism": "3", "lookup.cache": "FULL", "metastore.partitioned-table": "true"},
    {"metadata.stats-mode": "truncate(8)", "fields.a.stats-mode": "none"},
    {"orc.encoding.strategy": "SPEED"},
    {"file.format": "avro", "parquet.bloom.filter.enabled": "true", "orc.any": "1"},
]
OF_ANOTHER_FORMAT: list[dict[str, str]] = [
    {"file.format": "ORC"},
    {"file.format.per.level": "5:orc"},
    {"changelog-file.format": "orc"},
    {"manifest.format": "orc"},
]


@pytest.mark.parametrize("formats", OF_ANOTHER_FORMAT, ids=str)
def test_options_of_a_format_matter_where_files_have_it(formats: dict[str, str]) -> None:
    with pytest.raises(UnsupportedError, match=r"orc\.encoding\.strategy"):
        check_supported({"orc.encoding.strategy": "SPEED", **formats}, Keyed(), "write")


@pytest.mark.parametrize(("options", "operations"), REFUSED)
@pytest.mark.parametrize("operation", ["create", "read", "write"])
def test_what_is_not_built_is_refused_where_it_matters(
    options: dict[str, str], operations: str, operation: Operation
) -> None:
    ((key, value),) = options.items()
    whole = {"bucket": "1", **options}
    if operation not in operations.split():
        check_supported(whole, Keyed(), operation)
        return

    with pytest.raises(UnsupportedError) as caught:
        check_supported(whole, Keyed(), operation)

    assert str(caught.value).startswith(f"{key} = '{value}'")


@pytest.mark.parametrize("options", ACCEPTED)
@pytest.mark.parametrize("operation", ["create", "read", "write"])
def test_what_is_built_or_without_effect_passes(
    options: dict[str, str], operation: Operation
) -> None:
    check_supported({"bucket": "1", **options}, Keyed(), operation)


@pytest.mark.parametrize("bucket", ["0", "-3", "x", "1.5"])
def test_a_number_of_buckets_that_cannot_be_is_an_error(bucket: str) -> None:
    with pytest.raises(SchemaError, match=f"option 'bucket' = '{bucket}'"):
        check_supported({"bucket": bucket}, Keyed(), "create")


def test_every_default_in_the_registry_can_be_read() -> None:
    for spec in KNOWN_OPTIONS.values():
        if spec.default is not None:
            assert spec.is_default(spec.default), spec
        assert set(spec.accepted_values) <= set(spec.values), spec


def test_the_registry_knows_all_options_of_the_documentation() -> None:
    assert len(KNOWN_OPTIONS) > 400
    assert set(IMMUTABLE_KEYS) <= set(KNOWN_OPTIONS)
    assert {find_option(key) for key in FALLBACK_KEYS} <= set(KNOWN_OPTIONS.values())


def slices() -> Iterator[Any]:
    """Find what the package reads of options."""
    for module in pkgutil.walk_packages(paimonlab.__path__, "paimonlab."):
        if module.name.startswith(("paimonlab.spark", "paimonlab.notebook")):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, OptionSlice):
                yield value


def option_keys(cls: Any) -> set[str]:
    return {field.key for field in fields_of(cls).values()}


def test_every_implemented_option_is_read_by_a_slice() -> None:
    read = {key for cls in slices() for key in option_keys(cls)}

    # Where one value is built there is nothing to read: the others are refused.
    wanted = {
        key
        for key, spec in KNOWN_OPTIONS.items()
        if spec.status == "implemented" and len(spec.accepted_values) != 1
    }
    assert wanted - read == set()
    assert {key for key in read if KNOWN_OPTIONS[key].status != "implemented"} == set()


OWN_DEFAULTS = frozenset({"file.compression", "parquet.block.size"})
"""Columns that zstd hardly shrinks are stored as they are, and row groups are of other bytes and
smaller, unless an option says how."""
OWN_OF_PARQUET = frozenset({"file.compression.zstd-level"})
"""A sample says which level suits a column, unless an option does."""


def test_slices_have_the_defaults_of_paimon() -> None:
    for cls in slices():
        default = cls()
        for name, field in fields_of(cls).items():
            key = field.key
            spec = KNOWN_OPTIONS.get(key)
            own = OWN_DEFAULTS | (OWN_OF_PARQUET if cls is ParquetOptions else frozenset())
            if key in own or spec is None or spec.default is None:
                continue
            if "*" not in key:
                again: Any = Options({key: spec.default}).slice(cls)
                assert getattr(again, name) == getattr(default, name), (cls, key)
