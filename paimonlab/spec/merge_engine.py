"""The merge engine of a table: what becomes of several rows of one key, as one value.

Source: https://paimon.apache.org/docs/master/primary-key-table/merge-engine/ and
apache/paimon@1.3.1 ``org.apache.paimon.table.PrimaryKeyTableUtils``,
``org.apache.paimon.mergetree.compact.PartialUpdateMergeFunction`` (its factory),
``…aggregate.AggregateMergeFunction``, ``…aggregate.factory``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Self

from msgspec import Struct, field

from paimonlab.errors import SchemaError, UnsupportedError, close_matches
from paimonlab.spec.aggregate import PRIMARY_KEY, Aggregate, check_aggregate
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.data_types import DataField

_PARTIAL_REFUSAL = (
    "merge-engine 'partial-update' takes none without 'ignore-delete', "
    "'partial-update.remove-record-on-delete' or sequence groups"
)


class EngineKind(StrEnum):
    """The merge engines; the values are those of the option ``merge-engine``."""

    DEDUPLICATE = "deduplicate"
    """The newest row stays."""
    FIRST_ROW = "first-row"
    """The oldest row stays."""
    PARTIAL_UPDATE = "partial-update"
    """The newest value that is not null stays, column by column."""
    AGGREGATION = "aggregation"
    """Values are aggregated, column by column."""


class MergeOptions(OptionSlice):
    """The table options that make a merge engine."""

    engine: str = option_field("merge-engine", "enum", "deduplicate")
    """``merge-engine``"""
    sequence_fields: tuple[str, ...] = option_field("sequence.field", "list", ())
    """``sequence.field``: columns that order rows of a key before the sequence number."""
    ignore_delete: bool = option_field("ignore-delete", "boolean", default=False)
    """``ignore-delete``: rows of kind ``-U`` and ``-D`` count for nothing."""
    removes_aggregate: bool = option_field(
        "aggregation.remove-record-on-delete", "boolean", default=False
    )
    """``aggregation.remove-record-on-delete``: a ``-D`` removes the row."""
    removes_partial: bool = option_field(
        "partial-update.remove-record-on-delete", "boolean", default=False
    )
    """``partial-update.remove-record-on-delete``: a ``-D`` removes the row."""
    removing_groups: tuple[str, ...] = option_field(
        "partial-update.remove-record-on-sequence-group", "list", ()
    )
    """``partial-update.remove-record-on-sequence-group``: sequence fields; a ``-D`` that is not
    older than these removes the row."""
    groups: dict[str, str] = option_field("fields.*.sequence-group", "string", {})
    """``fields.<g1,g2>.sequence-group``: the columns that these sequence fields order."""
    default_function: str | None = option_field("fields.default-aggregate-function", "enum", None)
    """``fields.default-aggregate-function``"""
    functions: dict[str, str] = option_field("fields.*.aggregate-function", "enum", {})
    """``fields.<column>.aggregate-function``"""
    ignore_retract: dict[str, bool] = option_field("fields.*.ignore-retract", "boolean", {})
    """``fields.<column>.ignore-retract``: ``-U`` and ``-D`` leave the column as it is."""
    delimiters: dict[str, str] = option_field("fields.*.list-agg-delimiter", "string", {})
    """``fields.<column>.list-agg-delimiter``"""
    distinct: dict[str, bool] = option_field("fields.*.distinct", "boolean", {})
    """``fields.<column>.distinct``"""
    nested_keys: dict[str, tuple[str, ...]] = option_field("fields.*.nested-key", "list", {})
    """``fields.<column>.nested-key``: fields of the ROWs that tell them apart."""
    count_limits: dict[str, int] = option_field("fields.*.count-limit", "int", {})
    """``fields.<column>.count-limit``: how many ROWs ``nested_update`` gathers at most."""
    changelog_producer: str = option_field("changelog-producer", "enum", "none")
    """``changelog-producer``: with ``lookup`` compaction looks for older rows."""
    deletion_vectors: bool = option_field("deletion-vectors.enabled", "boolean", default=False)
    """``deletion-vectors.enabled``: compaction looks for older rows."""
    force_lookup: bool = option_field("force-lookup", "boolean", default=False)
    """``force-lookup``: compaction looks for older rows."""

    @property
    def needs_lookup(self) -> bool:
        """Whether a compaction of level 0 looks for older rows of its keys on deeper levels."""
        return (
            self.changelog_producer == "lookup"
            or self.deletion_vectors
            or self.engine == "first-row"
            or self.force_lookup
        )


class SequenceGroup(Struct, frozen=True):
    """Columns of a partial-update table that have an order of their own."""

    sequence_fields: tuple[str, ...]
    """Compared one after the other, ascending, nulls first."""
    columns: tuple[str, ...]
    """What they order, the sequence fields themselves left out."""
    removes_record: bool = False
    """Whether a ``-D`` that is not older removes the whole row."""


class MergeEngine(Struct, frozen=True, kw_only=True):
    """What becomes of the rows of one key."""

    kind: EngineKind = EngineKind.DEDUPLICATE
    ignore_delete: bool = False
    """Whether ``-U`` and ``-D`` count for nothing (not looked at by ``aggregation``)."""
    removes_on_delete: bool = False
    """Whether a ``-D`` removes the row: ``aggregation`` and ``partial-update``."""
    sequence_fields: tuple[str, ...] = ()
    """Columns that order the rows of a key, where ``-D`` removes them: ``aggregation`` and
    ``partial-update``."""
    groups: tuple[SequenceGroup, ...] = ()
    """Of ``partial-update``; no column is in two."""
    aggregates: Mapping[str, Aggregate] = field(default_factory=dict)
    """By column: every column of ``aggregation``, some of ``partial-update``."""
    has_complete_levels: bool = False
    """Whether a row above level 0 was merged with those of deeper levels when it was compacted:
    these must not be merged again."""

    @property
    def selects_rows(self) -> bool:
        """Whether the result of a key is one of its rows, so that a mask can tell it."""
        return self.kind in (EngineKind.DEDUPLICATE, EngineKind.FIRST_ROW)

    @property
    def skips_level_0(self) -> bool:
        """Whether readers leave files of level 0 to compaction."""
        return self.kind is EngineKind.FIRST_ROW

    def group_of(self, column: str) -> SequenceGroup | None:
        """Return the sequence group that orders a column, or that it orders."""
        for group in self.groups:
            if column in group.columns or column in group.sequence_fields:
                return group
        return None

    def needs(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Return the columns that merging some columns looks at, these first."""
        wanted = list(dict.fromkeys(columns))
        asked = {id(group): group for group in map(self.group_of, wanted) if group is not None}
        asked |= {id(group): group for group in self.groups if group.removes_record}
        others = (name for group in asked.values() for name in group.sequence_fields)
        return tuple(dict.fromkeys([*wanted, *others]))

    def refusal_of(self, kind: RowKind) -> str | None:
        """Say why rows of a kind must not be written; None: they may.

        A retraction that cannot be merged would make its key unreadable.
        """
        is_ignored = self.ignore_delete and self.kind is not EngineKind.AGGREGATION
        if not kind.is_retract or is_ignored or self.kind is EngineKind.DEDUPLICATE:
            return None
        if self.kind is EngineKind.FIRST_ROW:
            return (
                "merge-engine 'first-row' cannot apply deletes; set 'ignore-delete' to ignore them"
            )
        if self.kind is EngineKind.AGGREGATION and self.removes_on_delete:
            return None if kind is RowKind.DELETE else self._lacking_retraction()
        if self.kind is EngineKind.AGGREGATION or self.groups:
            may_remove = any(group.removes_record for group in self.groups)
            is_removal = may_remove and kind is RowKind.DELETE
            return None if is_removal else self._lacking_retraction()
        return None if self.removes_on_delete else _PARTIAL_REFUSAL

    def _lacking_retraction(self) -> str | None:
        for column, aggregate in self.aggregates.items():
            counts = self.kind is EngineKind.AGGREGATION or self.group_of(column) is not None
            if counts and not aggregate.retracts:
                return (
                    f"column {column!r} has the aggregate function {aggregate.function!r}, which "
                    f"cannot retract; set 'fields.{column}.ignore-retract' to ignore retractions"
                )
        return None

    @classmethod
    def of(
        cls, fields: Sequence[DataField], primary_keys: Sequence[str], options: Mapping[str, str]
    ) -> Self:
        """Make the engine of a table.

        Parameters
        ----------
        fields
            The table's columns.
        primary_keys
            Names of the primary key columns; () for an append table: nothing is merged.
        options
            The table's options.

        Raises
        ------
        SchemaError
            If options contradict each other or name no column.
        UnsupportedError
            If they ask for something that is not implemented.
        """
        if not primary_keys:
            return cls()
        chosen = Options(options).slice(MergeOptions)
        kind = EngineKind(chosen.engine)
        match kind:
            case EngineKind.PARTIAL_UPDATE:
                return cls._partial_update(fields, primary_keys, chosen)
            case EngineKind.AGGREGATION:
                return cls(
                    kind=kind,
                    removes_on_delete=chosen.removes_aggregate,
                    sequence_fields=chosen.sequence_fields if chosen.removes_aggregate else (),
                    has_complete_levels=chosen.needs_lookup,
                    aggregates=_aggregates(fields, primary_keys, chosen, kind),
                )
        if kind is EngineKind.FIRST_ROW and chosen.sequence_fields:
            raise SchemaError(
                "merge-engine 'first-row' keeps the row that came first: remove 'sequence.field'"
            )
        return cls(kind=kind, ignore_delete=chosen.ignore_delete)

    @classmethod
    def _partial_update(
        cls, fields: Sequence[DataField], primary_keys: Sequence[str], options: MergeOptions
    ) -> Self:
        kind = EngineKind.PARTIAL_UPDATE
        groups = _groups(fields, options)
        removing = "partial-update.remove-record-on-delete"
        if options.ignore_delete and (options.removes_partial or options.removing_groups):
            other = removing if options.removes_partial else f"{removing[:-6]}sequence-group"
            raise SchemaError(f"options 'ignore-delete' and {other!r} contradict each other")
        if options.removes_partial and groups:
            raise SchemaError(f"sequence groups and {removing!r} contradict each other")
        return cls(
            kind=kind,
            ignore_delete=options.ignore_delete,
            removes_on_delete=options.removes_partial,
            sequence_fields=options.sequence_fields if options.removes_partial else (),
            groups=groups,
            aggregates=_aggregates(fields, primary_keys, options, kind),
            has_complete_levels=options.needs_lookup,
        )


def check_merge_engine(
    fields: Sequence[DataField], primary_keys: Sequence[str], options: Mapping[str, str]
) -> None:
    """Check the options of a merge engine when a table is made or changed.

    Raises
    ------
    SchemaError
        If Java could not open such a table; the message names option or column.
    UnsupportedError
        If they ask for something that is not implemented.
    """
    engine = MergeEngine.of(fields, primary_keys, options)
    chosen = Options(options).slice(MergeOptions)
    for column in chosen.sequence_fields:
        if column in chosen.functions:
            raise SchemaError(f"sequence.field {column!r} must have no aggregate function")
    for group in engine.groups:
        for column in group.sequence_fields:
            if column in chosen.functions:
                raise SchemaError(
                    f"sequence field {column!r} of a group must have no aggregate function"
                )
    for column, aggregate in engine.aggregates.items():
        is_free = aggregate.function in (PRIMARY_KEY, "last_non_null_value")
        if engine.kind is EngineKind.PARTIAL_UPDATE and not is_free:
            group_of = engine.group_of(column)
            if group_of is None or column not in group_of.columns:
                raise SchemaError(
                    f"aggregate function {aggregate.function!r} of column {column!r} needs a "
                    "sequence group that has the column"
                )


def _groups(fields: Sequence[DataField], options: MergeOptions) -> tuple[SequenceGroup, ...]:
    names = {field.name for field in fields}
    groups = []
    group_of: dict[str, str] = {}
    for key, text in sorted(options.groups.items()):
        sequence = tuple(key.split(","))
        columns = tuple(name for name in text.split(",") if name not in sequence)
        for name in (*sequence, *columns):
            option = f"option 'fields.{key}.sequence-group'"
            if name not in names:
                raise SchemaError(f"{option}: no column {name!r}.{close_matches(name, names)}")
            if name in group_of:
                other = f"{group_of[name]}; each column is in one"
                if name in columns and name not in group_of[name].split(","):
                    raise SchemaError(f"{option}: column {name!r} is in group {other}")
                raise UnsupportedError(f"{option}: column {name!r} is in group {other}")
            group_of[name] = key
        removes = any(name in options.removing_groups for name in sequence)
        groups.append(SequenceGroup(sequence, columns, removes_record=removes))
    known = {name for group in groups for name in group.sequence_fields}
    for name in options.removing_groups:
        if name not in known:
            raise SchemaError(
                "option 'partial-update.remove-record-on-sequence-group': "
                f"{name!r} is not a sequence field of any group.{close_matches(name, known)}"
            )
    return tuple(groups)


def _aggregates(
    fields: Sequence[DataField],
    primary_keys: Sequence[str],
    options: MergeOptions,
    kind: EngineKind,
) -> dict[str, Aggregate]:
    """Choose the function of each column."""
    is_partial = kind is EngineKind.PARTIAL_UPDATE
    ordering = {name for key in options.groups for name in key.split(",")} if is_partial else ()
    aggregates = {}
    for column in fields:
        name = column.name
        if is_partial and name in ordering:
            continue
        if not is_partial and name in options.sequence_fields:
            function: str | None = "last_value"
        elif name in primary_keys:
            function = PRIMARY_KEY
        else:
            function = options.functions.get(name, options.default_function)
            if function is None and not is_partial:
                function = "last_non_null_value"
        if function is None:
            continue
        if options.removes_aggregate and options.ignore_retract.get(name, False):
            raise SchemaError(
                "options 'aggregation.remove-record-on-delete' and "
                f"'fields.{name}.ignore-retract' contradict each other"
            )
        aggregate = Aggregate(
            function=function,
            ignore_retract=options.ignore_retract.get(name, False),
            delimiter=options.delimiters.get(name, ","),
            is_distinct=options.distinct.get(name, False),
            nested_key=options.nested_keys.get(name, ()),
            count_limit=options.count_limits.get(name),
        )
        check_aggregate(name, column.type, aggregate)
        aggregates[name] = aggregate
    return aggregates
