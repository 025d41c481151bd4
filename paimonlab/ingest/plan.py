"""Which tables a source becomes: a pure function from what there is to what will be.

It says all that is decided before a row is read: names, columns and their types with reasons, keys,
changes of tables that exist, and what is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from paimonlab.catalog.new_schemas import checked_schema
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.ingest.added_columns import NAMES, AddedColumns
from paimonlab.ingest.changes import SourceSchema
from paimonlab.ingest.evolution import evolution, merged
from paimonlab.ingest.rules import IngestRules, columns_for
from paimonlab.secrets import hides_secrets
from paimonlab.spec.options.given import OptionValue, text_options
from paimonlab.spec.schema.definition import Schema, TableSchema
from paimonlab.spec.schema.schema_changes import SchemaChange, SetOption, apply_changes
from paimonlab.spec.types.data_types import DataField, DataType, with_nullable
from paimonlab.spec.types.text import UNASSIGNED_ID, format_type


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedColumn:
    """A column of a table, and where its type comes from."""

    name: str
    type: str
    """As Paimon writes it."""
    reason: str
    """What the source says; empty: no more than the type."""


@hides_secrets
@dataclass(frozen=True, kw_only=True)
class PlannedTable:
    """A table that a job writes to."""

    name: str
    """``database.table`` here."""
    sources: tuple[str, ...]
    """``database.table`` of the source, sorted."""
    columns: tuple[PlannedColumn, ...]
    primary_keys: tuple[str, ...]
    """() for an append table."""
    partition_keys: tuple[str, ...]
    definition: Schema | None = field(repr=False)
    """What the table is created as; None: it exists."""
    changes: tuple[SchemaChange, ...] = ()
    """Of a table that exists."""
    notes: tuple[str, ...] = ()
    has_own_key: bool = False
    """Whether the key was chosen for it, whatever the source has."""

    @property
    def action(self) -> str:
        """``create``, ``alter`` or ``write``."""
        if self.definition is not None:
            return "create"
        return "alter" if self.changes else "write"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Tables of the source that cannot be read, and why."""

    target: str
    """``database.table`` here."""
    sources: tuple[str, ...]
    reason: str
    is_by_source: bool = False
    """Whether the source cannot read them: others are read nevertheless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A table of the source that is not wanted."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestPlan:
    """What a job would do; see `Job.plan`."""

    tables: tuple[PlannedTable, ...] = ()
    """Sorted by name."""
    refused: tuple[Refused, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def __str__(self) -> str:
        """Say it in lines of text."""
        return "\n".join(_lines(self))

    def table(self, name: str) -> PlannedTable | None:
        """Return the plan of ``database.table``; None: there is none."""
        return next((table for table in self.tables if table.name == name), None)


def ingest_plan(
    sources: Mapping[str, SourceSchema],
    existing: Mapping[str, TableSchema],
    rules: IngestRules,
    *,
    known: Mapping[str, SourceSchema] | None = None,
) -> IngestPlan:
    """Decide what tables of a source become.

    Parameters
    ----------
    sources
        Schemas by ``database.table`` of the source.
    existing
        Schemas of tables that exist, by ``database.table`` here.
    rules
        What the job was told.
    known
        Schemas of the source that the job has followed so far; the log will say how they became
        what they are now, so they are not applied before it does.
    """
    followed = known or {}
    left_out = []
    shards: dict[str, list[str]] = {}
    for source in sorted({*sources, *followed}):
        reason = rules.reason_against(source)
        if reason is not None:
            left_out.append(LeftOut(source=source, reason=reason))
        else:
            shards.setdefault(f"{rules.into}.{rules.target_of(source)}", []).append(source)
    planned, refused = [], []
    for target, names in sorted(shards.items()):
        schemas = {name: followed[name] if name in followed else sources[name] for name in names}
        if unreadable := _unreadable(schemas.values()):
            refused.append(
                Refused(target=target, sources=tuple(names), reason=unreadable, is_by_source=True)
            )
            continue
        found = _planned(target, schemas, existing.get(target), rules)
        if isinstance(found, str):
            refused.append(Refused(target=target, sources=tuple(names), reason=found))
        else:
            planned.append(found)
    return IngestPlan(tables=tuple(planned), refused=tuple(refused), left_out=tuple(left_out))


def _unreadable(schemas: Iterable[SourceSchema]) -> str:
    """Say why the source cannot read some tables; empty: it can."""
    return "; ".join(schema.refusal for schema in schemas if schema.refusal is not None)


def _planned(
    target: str,
    shards: Mapping[str, SourceSchema],
    existing: TableSchema | None,
    rules: IngestRules,
) -> PlannedTable | str:
    """Plan one table; a text says why it is refused."""
    if len(shards) > 1 and not rules.merge_shards:
        return f"{' and '.join(shards)} would both become {target}: give table_names"
    table = target.partition(".")[2]
    own_key = columns_for(rules.primary_keys, table)
    added = rules.added_for(table)
    plain = _one(shards, has_own_key=own_key is not None)
    if isinstance(plain, str):
        return f"{' and '.join(shards)} cannot become one table: {plain}"
    schema = _with_added(plain, shards, added)
    if isinstance(schema, str):
        return schema
    keys = schema.primary_keys if own_key is None else own_key
    told = columns_for(rules.partition_keys, table)
    partition_keys = schema.partition_keys if told is None else told
    if (wrong := _wrong_keys(schema, added, keys, partition_keys)) is not None:
        return wrong
    made = _existing if existing is not None else _new
    found = made(target, schema, keys, partition_keys, existing, rules)
    if isinstance(found, str):
        return found
    definition, changes, notes, fields = found
    if not keys:
        notes = (*notes, "no primary key: rows are appended; an update or delete would stop it")
    notes = (*notes, *_notes_of_added_keys(added, keys))
    reasons = added.reasons(plain)
    return PlannedTable(
        name=target,
        sources=tuple(shards),
        columns=tuple(_column(field, shards, reasons) for field in fields),
        primary_keys=tuple(keys),
        partition_keys=tuple(partition_keys),
        definition=definition,
        changes=changes,
        notes=notes,
        has_own_key=own_key is not None,
    )


def _with_added(
    schema: SourceSchema, shards: Mapping[str, SourceSchema], added: AddedColumns
) -> SourceSchema | str:
    """Return a schema with what is added to it, or why that cannot be."""
    if twice := _twice(schema.names):
        return f"the source has column {twice!r} twice"
    try:
        for shard in shards.values():
            added.seen(shard)
        return added.planned(schema)
    except (SchemaError, UnsupportedError) as error:
        return str(error)


def _wrong_keys(
    schema: SourceSchema,
    added: AddedColumns,
    keys: Sequence[str],
    partition_keys: Sequence[str],
) -> str | None:
    """Say which column cannot be that of a key; None: all can."""
    for what, columns in (("primary key", keys), ("partition", partition_keys)):
        for name in columns:
            if name not in schema.names:
                return f"the {what} column {name!r} is not in the source ({_list(schema.names)})"
    for name in keys:
        origin = added.origin(name)
        if origin is not None and origin.function == "now":
            return (
                f"the primary key column {name!r} is computed by now(), another time for each "
                "change of a row: updates and deletes would not find it"
            )
    return None


def _notes_of_added_keys(added: AddedColumns, keys: Sequence[str]) -> Iterator[str]:
    for name in keys:
        if name in [column.name for column in added.metadata if column.of not in NAMES]:
            yield (
                f"key column {name!r} is metadata: updates and deletes find a row only if it is "
                "the same for each change of the row"
            )
        origin = added.origin(name)
        if origin is not None and origin.reads is not None and origin.reads not in keys:
            yield (
                f"key column {name!r} is computed from {origin.reads!r}, which is no key: updates "
                "and deletes find a row only if the source gives the old value of it"
            )


_Found = tuple[Schema | None, tuple[SchemaChange, ...], tuple[str, ...], tuple[DataField, ...]]


def _new(
    target: str,
    schema: SourceSchema,
    keys: tuple[str, ...],
    partition_keys: tuple[str, ...],
    _existing: TableSchema | None,
    rules: IngestRules,
) -> _Found | str:
    if not schema.columns:
        return "no column of the source is known yet: create the table, or give its schema"
    fields = [
        DataField(UNASSIGNED_ID, column.name, _type(column.type, column.name, keys), column.comment)
        for column in schema.columns
    ]
    options = rules.options_for(target.partition(".")[2])
    definition = Schema(fields, partition_keys, keys, options, schema.comment)
    try:
        made = checked_schema(definition)
    except (SchemaError, UnsupportedError) as error:
        return f"{target} cannot be created: {error}{_about_buckets(keys, options)}"
    return definition, (), (), made.fields


_DEFAULT_BUCKET = "-1"


def _about_buckets(keys: tuple[str, ...], options: Mapping[str, OptionValue]) -> str:
    """Say what to do about a table without a key where tables with one have buckets."""
    given = text_options(options)
    if keys or given.get("bucket", _DEFAULT_BUCKET) == _DEFAULT_BUCKET or "bucket-key" in given:
        return ""
    return (
        ". The source has no primary key for it: give primary_keys, or leave it out with excluding "
        "and read it by a job without bucket, or give it a bucket of its own in table_options"
    )


def _existing(
    target: str,
    schema: SourceSchema,
    keys: tuple[str, ...],
    partition_keys: tuple[str, ...],
    existing: TableSchema | None,
    rules: IngestRules,
) -> _Found | str:
    assert existing is not None, f"{target} exists"
    if existing.primary_keys != keys:
        return (
            f"{target} exists with primary key ({_list(existing.primary_keys)}), the source has "
            f"({_list(keys)}): give primary_keys, or another name in table_names"
        )
    if partition_keys and existing.partition_keys != partition_keys:
        return (
            f"{target} exists partitioned by ({_list(existing.partition_keys)}), not by "
            f"({_list(partition_keys)})"
        )
    step = evolution(existing, None, schema, mode=rules.evolve, has_own_key=True)
    if step.refusal is not None:
        return f"{target} exists, but {step.refusal}"
    told = text_options(rules.options_for(target.partition(".")[2]))
    bucket = told.get("bucket")
    there = existing.options.get("bucket", _DEFAULT_BUCKET)
    if bucket is not None and bucket != there:
        return f"{target} exists with bucket = {there!r}, not {bucket!r}: rescale it, or leave it"
    options = [
        SetOption(key, value)
        for key, value in told.items()
        if key != "bucket" and existing.options.get(key) != value
    ]
    changes = (*step.changes, *options)
    try:
        after = apply_changes(existing, changes, has_snapshots=True, time_millis=0)
    except SchemaError as error:
        return f"{target} exists, but {error}"
    return None, changes, step.notes, after.fields


def _one(shards: Mapping[str, SourceSchema], *, has_own_key: bool) -> SourceSchema | str:
    """Return the schema that has the rows of all shards, or why there is none."""
    found: SourceSchema | None = None
    for schema in shards.values():
        if found is None:
            found = schema
            continue
        other = schema
        if has_own_key:
            other = SourceSchema(
                columns=schema.columns,
                primary_keys=found.primary_keys,
                comment=schema.comment,
                is_partial=schema.is_partial,
                is_unordered=schema.is_unordered,
            )
        both = merged(found, other)
        if isinstance(both, str):
            return both
        found = both
    assert found is not None, "a table has a source"
    return found


def _type(data_type: DataType, name: str, keys: Sequence[str]) -> DataType:
    return with_nullable(data_type, nullable=False) if name in keys else data_type


def _column(
    field: DataField, shards: Mapping[str, SourceSchema], reasons: Mapping[str, str]
) -> PlannedColumn:
    if field.name in reasons:
        return PlannedColumn(
            name=field.name, type=format_type(field.type), reason=reasons[field.name]
        )
    said: dict[str, list[str]] = {}
    for source, schema in shards.items():
        column = schema.column(field.name)
        if column is None:
            said.setdefault("not there", []).append(source)
        elif column.source_type is not None:
            said.setdefault(column.source_type, []).append(source)
        else:
            said.setdefault(format_type(column.type), []).append(source)
    shown = format_type(field.type)
    if [*said] == [shown]:
        reason = ""
    elif len(said) == 1:
        reason = next(iter(said))
        reason = "not in the source" if reason == "not there" else reason
    else:
        reason = "; ".join(f"{text} in {', '.join(where)}" for text, where in said.items())
    return PlannedColumn(name=field.name, type=shown, reason=reason)


def _twice(names: Sequence[str]) -> str | None:
    seen = set[str]()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)


def _lines(plan: IngestPlan) -> Iterator[str]:
    for table in plan.tables:
        keys = f", primary key ({_list(table.primary_keys)})" if table.primary_keys else ""
        parts = f", partitioned by ({_list(table.partition_keys)})" if table.partition_keys else ""
        yield f"{table.action} {table.name} from {_list(table.sources)}{keys}{parts}"
        wide = max((len(column.name) for column in table.columns), default=0)
        types = max((len(column.type) for column in table.columns), default=0)
        for column in table.columns:
            yield f"  {column.name:{wide}}  {column.type:{types}}  {column.reason}".rstrip()
        for change in table.changes:
            yield f"  {change}"
        for note in table.notes:
            yield f"  note: {note}"
    for refused in plan.refused:
        yield f"refused {refused.target} from {_list(refused.sources)}: {refused.reason}"
    for left in plan.left_out:
        yield f"left out {left.source}: {left.reason}"
    if not (plan.tables or plan.refused or plan.left_out):
        yield "the source has no tables"
