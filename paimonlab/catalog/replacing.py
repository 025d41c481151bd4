"""Giving a table another definition, as CREATE OR REPLACE TABLE does.

The table keeps its folder, its snapshots and its tags: what it was can still be read, with the
columns of that time. New columns get ids that no column had before, so that no file of the old
table is taken for one of the new.

Source: apache/paimon@5dacde5 ``AbstractCatalog.replaceTable``, which gives ids again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from msgspec import structs

from paimonlab.catalog.new_schemas import FALLBACK_BRANCH, checked_schema
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.options.table_options import Options, find_option
from paimonlab.spec.schema.change_kinds import RemoveOption, SetOption
from paimonlab.spec.schema.definition import Schema
from paimonlab.spec.schema.option_changes import remove_option, set_option
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.table.inside import definition_of, store_of, with_definition
from paimonlab.table.table import Table

_PATH = "path"


class Schemas(Protocol):
    """The schemas of a table, where its catalog keeps them."""

    def latest(self) -> TableSchema | None:
        """Return the current one; None if the table does not exist."""
        ...

    def publish(self, schema: TableSchema) -> bool:
        """Make a schema the current one; False if its id is taken."""
        ...


@dataclass(frozen=True)
class Replacement(ABC):
    """A definition that is to take the place of that of a table."""

    before: Table
    table: Table
    """With the new definition: files can be written for it; it cannot be opened by name yet."""

    @abstractmethod
    def publish(self) -> Table:
        """Remove all rows, and give the table its new definition.

        Returns
        -------
        Table
            With the new definition.

        Raises
        ------
        SchemaError
            If the definition was changed by others meanwhile; nothing was done.
        """


def changed_meanwhile(table: str) -> SchemaError:
    """Return the error of a replacement that others were faster than."""
    return SchemaError(
        f"{table}: others changed its definition while it was being replaced; "
        "run the statement again"
    )


@dataclass(frozen=True)
class SchemaReplacement(Replacement):
    """A replacement by a schema that this process publishes.

    If the process ends after the rows were removed, the table is empty and has the old definition;
    its snapshots can be rolled back to.
    """

    schemas: Schemas

    def publish(self) -> Table:
        """Remove all rows, then give the table its new definition."""
        latest = self.schemas.latest()
        if latest is None or latest.id != self.before.schema.id:
            raise changed_meanwhile(self.before.name)
        snapshots = store_of(self.before).snapshots
        emptied = None if snapshots.latest_id() is None else self.before.truncate().id
        if not self.schemas.publish(self.table.schema):
            raise changed_meanwhile(self.before.name)
        store_of(self.table).loads.clear()  # the files were loaded into the old table
        if snapshots.latest_id() != emptied:  # rows that others added to the old table
            self.table.truncate()
        return self.table


def replaced_table(before: Table, definition: Schema) -> Table:
    """Return a table as it is to be; nothing changes.

    Parameters
    ----------
    before
        The table, on its main branch, with the highest id that a field ever had.
    definition
        What it is to be.

    Raises
    ------
    SchemaError
        If the definition is not allowed, or an option is unknown.
    UnsupportedError
        If the table has snapshots and the definition has other keys, or another value of an option
        that says how they are read.
    """
    old = before.schema
    branches = store_of(before).branches.names() if FALLBACK_BRANCH in definition.options else ()
    made = checked_schema(definition, first_id=old.highest_field_id + 1, branches=branches)
    if _PATH in old.options:  # the table stays where it is
        made = replace(made, options={**made.options, _PATH: old.options[_PATH]})
    if store_of(before).snapshots.latest_id() is not None:
        for fault in _faults(old, made):
            raise UnsupportedError(
                f"replacing {before.name} by a table with {fault}",
                "its snapshots would be read by other rules: use DROP TABLE, then CREATE TABLE",
            )
    schema = replace(made, id=old.id + 1)
    definition_after = structs.replace(
        definition_of(before), schema=schema, options=Options(schema.options)
    )
    return with_definition(before, definition_after)


def _faults(old: TableSchema, new: TableSchema) -> Iterator[str]:
    """Yield what of a definition must not differ, as ``it`` would have it."""
    if old.primary_keys != new.primary_keys:
        yield f"the primary key ({', '.join(new.primary_keys)})"
    if old.partition_keys != new.partition_keys:
        yield f"the partition columns ({', '.join(new.partition_keys)})"
    for key in sorted(old.options.keys() | new.options.keys()):
        if _value(old, key) == _value(new, key):
            continue
        try:
            if key in new.options:
                set_option(old, SetOption(key, new.options[key]), has_snapshots=True)
            else:
                remove_option(old, RemoveOption(key), has_snapshots=True)
        except SchemaError:
            yield f"{key} = {_value(new, key)!r}"


def _value(schema: TableSchema, key: str) -> str | None:
    """Return the value of an option of a table, or its default."""
    spec = find_option(key)
    return schema.options.get(key, None if spec is None else spec.default)
