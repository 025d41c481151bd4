"""Tables that are made of rows, and filled with them, in one call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from paimonlab import write
from paimonlab.catalog.new_schemas import schema_from
from paimonlab.errors import AlreadyExistsError, habits
from paimonlab.spec.options.given import OptionValue
from paimonlab.spec.schema.definition import Schema

if TYPE_CHECKING:
    from paimonlab.catalog.replacing import Replacement
    from paimonlab.table.table import Table

Mode: TypeAlias = Literal["create", "append", "overwrite", "replace"]
_MODES = ("create", "append", "overwrite", "replace")


class _Catalog(Protocol):
    """What is asked of the catalog."""

    def has_table(self, name: str) -> bool: ...

    def table(self, name: str) -> Table: ...

    def create_table(self, name: str, schema: Any) -> Table: ...

    def replacement(self, name: str, schema: Schema) -> Replacement: ...

    def drop_table(self, name: str) -> None: ...


@habits.arguments({**habits.CREATE, **dict.fromkeys((*habits.EXISTING, "if_exists"), "mode")})
def write_table(
    catalog: _Catalog,
    name: str,
    data: Any,
    *,
    primary_keys: Sequence[str] = (),
    partition_keys: Sequence[str] = (),
    options: Mapping[str, OptionValue] | None = None,
    comment: str | None = None,
    mode: Mode = "create",
) -> Table:
    """Make a table of rows, with their columns, and write them into it.

    Parameters
    ----------
    name
        ``database.table``; the database must be there.
    data
        What `Table.write` takes.
    primary_keys, partition_keys, options, comment
        Of a table that is made; a text is one key.
    mode
        If the table is there already: ``create`` is an error, ``append`` writes into it (an
        upsert if it has a primary key), ``overwrite`` replaces its rows, as `Table.overwrite`
        does, ``replace`` gives it the columns of ``data`` too and keeps its history.

    Raises
    ------
    AlreadyExistsError
        If the table exists and ``mode`` is ``create``.
    DataError, SchemaError
        If the rows do not fit. A table that was made for them is gone again.
    """
    if mode not in _MODES:
        raise ValueError(f"mode = {mode!r}: it is one of {', '.join(_MODES)}")
    if isinstance(data, str | os.PathLike):
        raise TypeError(
            f"write_table takes rows, not the name of a file: pandas.read_csv({str(data)!r}) reads "
            f"one; in a shell, paimonlab load {name} FILE --create"
        )
    rows = write.frames.at_hand(data, table=name)
    there = catalog.has_table(name)
    if there and mode == "create":
        hint = "mode='append' adds the rows, 'overwrite' puts them in place of its own"
        raise AlreadyExistsError("table", name, hint)
    definition = schema_from(name, rows, primary_keys, partition_keys, options, comment)
    if not there:
        table = catalog.create_table(name, definition)
        try:
            table.write(rows)
        except BaseException:
            if table.snapshot is None:
                catalog.drop_table(name)
            raise
        return table
    if mode == "replace":
        table = catalog.replacement(name, definition).publish()
        table.write(rows)
        return catalog.table(name)
    table = catalog.table(name)
    if mode == "append":
        table.write(rows)
    else:
        table.overwrite(rows)
    return table
