"""Options of a table: reading them, and refusing what is not implemented.

Layers declare the options they obey as slices, beside the code these steer::

    class CommitOptions(OptionSlice):
        max_retries: int = option_field("commit.max-retries", "int", 10)

and get them with ``options.slice(CommitOptions)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from paimonlab.errors import SchemaError, UnsupportedError, close_matches, habits
from paimonlab.spec.buckets.mode import KeyedTable
from paimonlab.spec.options.grammar import (
    parse_boolean,
    parse_duration_millis,
    parse_list,
    parse_memory_size_bytes,
)
from paimonlab.spec.options.registry import (
    FALLBACK_KEYS,
    INSTEAD,
    KNOWN_OPTIONS,
    Operation,
    OptionSpec,
    find_option,
)
from paimonlab.spec.options.slices import OptionSlice, fields_of, option_field

__all__ = [
    "KNOWN_OPTIONS",
    "OptionSlice",
    "OptionSpec",
    "Options",
    "check_known",
    "check_supported",
    "fields_of",
    "find_option",
    "option_field",
    "parse_boolean",
    "parse_duration_millis",
    "parse_list",
    "parse_memory_size_bytes",
]

Slice = TypeVar("Slice", bound=OptionSlice)


class Options(Mapping[str, str]):
    """Options of a table by key, frozen.

    A former key is also found under its present name.

    Examples
    --------
    >>> options = Options({"write.compaction-skip": "true"})
    >>> options["write-only"], list(options)
    ('true', ['write.compaction-skip'])
    """

    __slots__ = ("_slices", "_values")

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = dict(values or {})
        self._slices: dict[type, Any] = {}

    def __getitem__(self, key: str) -> str:
        if key in self._values:
            return self._values[key]
        for former, present in FALLBACK_KEYS.items():
            if present == key and former in self._values:
                return self._values[former]
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __repr__(self) -> str:
        return f"Options({self._values!r})"

    def __reduce__(self) -> tuple[type[Options], tuple[dict[str, str]]]:
        return type(self), (self._values,)

    def with_options(self, others: Mapping[str, str]) -> Options:
        """Return these options, overridden by others, such as those of one read."""
        return Options(self._values | dict(others))

    def slice(self, cls: type[Slice]) -> Slice:
        """Return the part of the options that a layer obeys, built once.

        Parameters
        ----------
        cls
            Its fields are made with `option_field`.

        Raises
        ------
        SchemaError
            If a value cannot be read; the message names option and value.
        """
        known: Slice | None = self._slices.get(cls)
        if known is None:
            known = self._slices[cls] = self._slice(cls)
        return known

    def _slice(self, cls: type[Slice]) -> Slice:
        given: dict[str, Any] = {}
        for name, field in fields_of(cls).items():
            if "*" in field.key:
                given[name] = self._family(field.key, field.read)
            elif field.key in self:
                given[name] = _value(field.key, self[field.key], field.read)
        return cls(**given)

    def _family(self, key: str, read: Callable[[str], Any]) -> dict[str, Any]:
        pattern = re.compile(re.escape(key).replace(r"\*", "(.+)"))
        matches = {name: pattern.fullmatch(name) for name in self._values}
        return {
            match[1]: _value(name, self._values[name], read)
            for name, match in matches.items()
            if match is not None
        }


def _value(key: str, text: str, read: Callable[[str], Any]) -> Any:
    spec = find_option(key)
    try:
        if spec is not None:
            spec.parse(text)
        return read(text)
    except ValueError as error:
        raise SchemaError(f"option {key!r} = {text!r}: {error}") from None


# Refusing.


def check_known(keys: Iterable[str]) -> None:
    """Check the keys that a user sets.

    Tables written by others may have unknown keys; these are ignored.

    Raises
    ------
    SchemaError
        If a key is unknown; the message names close ones.
    """
    for key in keys:
        if find_option(key) is None:
            if (meant := habits.OPTIONS.get(key.lower())) is not None:
                raise SchemaError(f"option {key!r} is not known; what is like it is {meant!r}.")
            known = [known for known in KNOWN_OPTIONS if "*" not in known]
            raise SchemaError(f"option {key!r} is not known.{close_matches(key, known)}")


def check_supported(options: Mapping[str, str], schema: KeyedTable, operation: Operation) -> None:
    """Check that every option can be obeyed.

    Parameters
    ----------
    options
        Options of the table and of this operation.
    schema
        The schema that the options belong to.
    operation
        The operation to check for: a table may be readable but not writable. A table that cannot
        be read or written cannot be created.

    Raises
    ------
    UnsupportedError
        If an option has a value that changes this operation and is not implemented.
    SchemaError
        If a value cannot be read.

    Examples
    --------
    >>> from paimonlab.spec.schema.definition import TableSchema
    >>> schema = TableSchema(0, (), -1, primary_keys=("id",))
    >>> check_supported({"bucket": "1", "pk-clustering-override": "true"}, schema, "read")
    Traceback (most recent call last):
    paimonlab.errors.UnsupportedError: pk-clustering-override = 'true' is not supported: reading
    this table needs it; use 'false'
    """
    unused = _unused_families(Options(options))
    for key, text in options.items():
        spec = find_option(key)
        if spec is not None and spec.key not in unused:
            _check_value(key, text, spec, operation)
    _check_bucket(Options(options))
    _check_file_rows(Options(options))
    _check_clustering(Options(options), schema, operation)


_DOING: Mapping[Operation, str] = {
    "create": "a table with it cannot be used here",
    "read": "reading this table needs it",
    "write": "writing to this table needs it",
}


def _unused_families(options: Options) -> set[str]:
    """Return the families of options of formats that no file of the table has."""
    keys = ("file.format.per.level", "changelog-file.format", "manifest.format")
    chosen = options.get("file.format", "parquet") + " ".join(options.get(key, "") for key in keys)
    return {f"{name}.*" for name in ("orc", "parquet") if name not in chosen.lower()}


def _check_value(key: str, text: str, spec: OptionSpec, operation: Operation) -> None:
    try:
        value = spec.parse(text)
        is_built = spec.is_default(text)
    except ValueError as error:
        raise SchemaError(f"option {key!r} = {text!r}: {error}") from None
    if spec.status == "implemented":
        is_built = not spec.accepted_values or value in spec.accepted_values
    if is_built or operation not in spec.refused_for:
        return
    built = " or ".join(repr(value) for value in spec.accepted_values)
    if spec.key in INSTEAD:
        raise UnsupportedError(f"{key} = {text!r}", f"{_DOING[operation]}; {INSTEAD[spec.key]}")
    usable = built or (None if spec.default is None else repr(spec.default))
    unset = f"leave it out (ALTER TABLE … UNSET TBLPROPERTIES ('{key}'))"
    advice = unset if usable is None else f"use {usable}"
    raise UnsupportedError(f"{key} = {text!r}", f"{_DOING[operation]}; {advice}")


def _check_clustering(options: Options, schema: KeyedTable, operation: Operation) -> None:
    if _is_on("clustering.incremental", options):
        if schema.primary_keys or options.get("bucket", "-1") != "-1":
            raise SchemaError(
                "option 'clustering.incremental' is for tables without primary key and buckets"
            )
        return
    has_buckets = options.get("bucket", "-1") != "-1"
    is_refused = has_buckets and operation != "read" and not schema.primary_keys
    if is_refused and options.get("clustering.columns"):
        raise UnsupportedError(
            f"clustering.columns = '{options['clustering.columns']}'",
            "rows of a table with buckets have the order in which they were written; leave out "
            "'bucket', or 'clustering.columns'",
        )


def _is_on(key: str, options: Options) -> bool:
    return key in options and bool(KNOWN_OPTIONS[key].parse(options[key]))


def _check_bucket(options: Options) -> None:
    text = options.get("bucket")
    try:
        bucket = -1 if text is None else KNOWN_OPTIONS["bucket"].parse(text)
    except ValueError as error:
        raise SchemaError(f"option 'bucket' = {text!r}: {error}") from None
    if bucket == 0 or bucket < -2:
        raise SchemaError(f"option 'bucket' = {text!r}: must be at least 1, or -1 or -2")


def _check_file_rows(options: Options) -> None:
    key = "target-file-row-num"
    if key in options and KNOWN_OPTIONS[key].parse(options[key]) < 1:
        raise SchemaError(f"option {key!r} = {options[key]!r}: must be at least 1")
