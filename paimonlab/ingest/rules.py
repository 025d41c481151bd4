"""What a job is told about tables: which of the source's, their names, keys and options here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, TypeAlias, TypeGuard

from paimonlab.errors import UnsupportedError, close_matches
from paimonlab.ingest.added_columns import NAMES, AddedColumns, MetadataColumn
from paimonlab.ingest.computed import computed_columns
from paimonlab.ingest.evolution import Evolve
from paimonlab.ingest.type_words import NULLABLE, TO_TEXTS
from paimonlab.secrets import hides_secrets
from paimonlab.spec.options.given import OptionValue
from paimonlab.spec.types.data_types import DataType

Columns: TypeAlias = Sequence[str] | Mapping[str, Sequence[str]] | None
"""Columns of all tables, or by the name of the table here without its database; None: not told."""

Computed: TypeAlias = Mapping[str, str | Mapping[str, str]]
"""Functions by the name of the column, for all tables; or those by the name of the table here."""

_NOT_HERE = {
    "type_mapping": "other types than the source maps to; sources that map types take it",
}


@hides_secrets
@dataclass(frozen=True, kw_only=True)
class IngestRules:
    """Which tables of a source become which tables of a database, and how."""

    into: str
    """The database."""
    table_names: Mapping[str, str] | str = field(default_factory=dict)
    """Names here, by ``database.table`` or ``table`` of the source, in any case. They get neither
    prefix nor suffix. A text: the one table that all become."""
    prefix: Mapping[str, str] | str = ""
    suffix: Mapping[str, str] | str = ""
    """For all tables, or by database of the source; ``""`` stands for all others."""
    including: str = ".*"
    """A regular expression for ``database.table`` of the source; must match the whole."""
    excluding: str | None = None
    """As ``including``; what both match is left out."""
    merge_shards: bool = True
    """Whether tables of one name in several databases become one table. False: each becomes
    ``database_table``."""
    shard_columns: tuple[str, ...] = ()
    """Names of columns with the database, and the table, that a row comes from; they are part of
    the key of tables that have one and for which none was chosen."""
    primary_keys: Columns = None
    """None: those of the source."""
    partition_keys: Columns = None
    """None: those of the source, where it has any."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """Of the tables, by Paimon's keys."""
    table_options: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)
    """More of them, by a regular expression for the whole name of a table here."""
    computed: Computed = field(default_factory=dict)
    """Columns that are computed from those of the source; see `paimonlab.ingest.computed`."""
    metadata: Columns = None
    """Names of what the source knows of rows beside their values, which become columns."""
    metadata_types: Mapping[str, DataType] = field(default_factory=dict)
    """What the source can tell."""
    type_mapping: frozenset[str] = frozenset()
    """What the source was told of tables; see `paimonlab.ingest.type_words`."""
    evolve: Evolve = Evolve.LENIENT
    on_truncate: str = "ignore"
    """``ignore``: rows are kept when the source empties a table; ``apply``: they are deleted."""
    on_delete: str = "apply"
    """``apply``: rows that the source deletes are deleted; ``mark:<column>``: they are kept, and
    the column says so."""
    on_error: str = "stop-table"
    """What happens when a table cannot go on: ``stop-table`` or ``stop``, which ends the job."""

    def __post_init__(self) -> None:
        _check_pattern("including =", self.including)
        if self.excluding is not None:
            _check_pattern("excluding =", self.excluding)
        for pattern, told in self.table_options.items():
            if not isinstance(told, Mapping):
                raise TypeError(f"table_options of {pattern!r} are {told!r}, not values by option")
            _check_pattern("table_options:", pattern)
        for name, words in (
            ("on_truncate", ("ignore", "apply")),
            ("on_error", ("stop-table", "stop")),
        ):
            if getattr(self, name) not in words:
                raise ValueError(f"{name} = {getattr(self, name)!r}: it is {' or '.join(words)}")
        if self.on_delete != "apply" and not self.mark:
            raise ValueError(f"on_delete = {self.on_delete!r}: it is apply or mark:<column>")
        if len(self.shard_columns) > len(NAMES) or "" in self.shard_columns:
            raise ValueError(
                f"shard_columns = {list(self.shard_columns)}: a name for the database, and one for "
                "the table"
            )
        tables = ["", *(name for name, one in self.computed.items() if _is_of_table(one))]
        if isinstance(self.metadata, Mapping):
            tables += self.metadata
        for table in tables:
            self.added_for(table)

    @property
    def mark(self) -> str:
        """Name of the column that says of rows that they were deleted; empty: there is none."""
        word, _, column = self.on_delete.partition(":")
        return column if word == "mark" else ""

    def widened(self, patterns: Sequence[str]) -> IngestRules:
        """Return the rules with more tables, by patterns as in ``including``."""
        if not patterns:
            return self
        wider = "|".join(f"(?:{pattern})" for pattern in (self.including, *patterns))
        return replace(self, including=wider)

    def wants(self, source: str) -> bool:
        """Say whether ``database.table`` of the source is read."""
        return self.reason_against(source) is None

    def reason_against(self, source: str) -> str | None:
        """Say why a table of the source is not read; None: it is."""
        if self.excluding is not None and _whole(self.excluding, source):
            return f"excluding = {self.excluding!r}"
        if not _whole(self.including, source):
            return f"not in including = {self.including!r}"
        return None

    def target_of(self, source: str) -> str:
        """Return the name here, without the database.

        Examples
        --------
        >>> rules = IngestRules(into="ods", prefix="p_", table_names={"Orders": "o"})
        >>> rules.target_of("shop1.orders"), rules.target_of("shop1.items")
        ('o', 'p_items')
        """
        if isinstance(self.table_names, str):
            return self.table_names
        database, _, table = source.partition(".")
        for name in (source.lower(), table.lower()):
            if name in self._names:
                return self._names[name]
        plain = table if self.merge_shards else f"{database}_{table}"
        return (
            f"{_for_database(self.prefix, database)}{plain}{_for_database(self.suffix, database)}"
        )

    def options_for(self, table: str) -> dict[str, OptionValue]:
        """Return the options of a table here; of patterns that match it the later one counts.

        Examples
        --------
        >>> told = {"o.*": {"bucket": 4}, "order_items": {"bucket": 8}}
        >>> rules = IngestRules(into="ods", options={"bucket": 1}, table_options=told)
        >>> [rules.options_for(name)["bucket"] for name in ("order_items", "orders", "shops")]
        [8, 4, 1]
        """
        found = dict(self.options)
        for pattern, told in self.table_options.items():
            if _whole(pattern, table):
                found |= told
        return found

    def added_for(self, table: str) -> AddedColumns:
        """Return the columns that a table here has beside those of its source.

        Parameters
        ----------
        table
            Without its database.

        Raises
        ------
        ValueError, UnsupportedError
            If a function cannot be read, or the source has no such metadata; names the column.
        """
        found = self._added.get(table)
        if found is None:
            told: dict[str, Any] = {
                name: one for name, one in self.computed.items() if not _is_of_table(one)
            }
            own = self.computed.get(table)
            if _is_of_table(own):
                told |= own
            own_key = columns_for(self.primary_keys, table)
            found = self._added[table] = AddedColumns(
                computed=computed_columns(told),
                metadata=self._metadata_for(table),
                mark=self.mark,
                keys=self.shard_columns if own_key is None else (),
                is_nullable=NULLABLE in self.type_mapping,
                takes_texts=TO_TEXTS in self.type_mapping,
                own_keys=tuple(own_key or ()),
            )
        return found

    def _metadata_for(self, table: str) -> tuple[MetadataColumn, ...]:
        known = {**NAMES, **self.metadata_types}
        names = columns_for(self.metadata, table) or ()
        for name in names:
            if name not in known:
                raise UnsupportedError(
                    f"metadata column {name!r}",
                    f"the source gives {', '.join(sorted(known))}.{close_matches(name, known)}",
                )
            if names.count(name) > 1:
                raise ValueError(f"metadata column {name!r} is named twice")
        shards = [
            MetadataColumn(name, NAMES[of], of)
            for name, of in zip(self.shard_columns, NAMES, strict=False)
        ]
        for shard in shards:
            if shard.name in names:
                raise ValueError(f"{shard.name!r} is both in shard_columns and in metadata")
        return (*shards, *(MetadataColumn(name, known[name], name) for name in names))

    @cached_property
    def _added(self) -> dict[str, AddedColumns]:
        return {}

    @cached_property
    def _names(self) -> dict[str, str]:
        names = {} if isinstance(self.table_names, str) else self.table_names
        return {name.lower(): target for name, target in names.items()}


def refuse_missing(given: Mapping[str, Any]) -> None:
    """Refuse what a job could be told elsewhere, but cannot here.

    Raises
    ------
    UnsupportedError
        Names it.
    TypeError
        If nobody knows such an argument.
    """
    for name, value in given.items():
        if name not in _NOT_HERE:
            raise TypeError(f"ingest() got an unexpected keyword argument {name!r}")
        raise UnsupportedError(f"{name} = {value!r}", _NOT_HERE[name])


def columns_for(given: Columns, table: str) -> tuple[str, ...] | None:
    """Return the columns that were told for a table here; None: nothing was."""
    if given is None:
        return None
    if isinstance(given, str):
        raise TypeError("columns are a list of names, or lists by table, not a text")
    if isinstance(given, Mapping):
        return tuple(given[table]) if table in given else None
    return tuple(given)


def _check_pattern(what: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{what} {pattern!r} is not a regular expression: {error}") from None


def _for_database(told: Mapping[str, str] | str, database: str) -> str:
    return told if isinstance(told, str) else told.get(database, told.get("", ""))


def _is_of_table(told: object) -> TypeGuard[Mapping[str, str]]:
    """Say whether columns are told, not a function."""
    return isinstance(told, Mapping)


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _whole(pattern: str, text: str) -> bool:
    return _compiled(pattern).fullmatch(text) is not None
