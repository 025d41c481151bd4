"""Giving a table of a REST server another definition.

The server removes the rows and publishes the definition. Which ids it gives to fields is only
known when it has done so; ours gives those that `paimonlab.catalog.replacing` gives.

Source: apache/paimon@5dacde5 ``RESTCatalog.replaceTable``, which came with release 2.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from msgspec import structs

from paimonlab.catalog.replacing import Replacement
from paimonlab.catalog.rest.wire import Replace, SchemaDocument
from paimonlab.errors import SchemaNotFoundError
from paimonlab.table.inside import definition_of, store_of, with_definition
from paimonlab.table.table import Table


@dataclass(frozen=True)
class ServedReplacement(Replacement):
    """A replacement that the server does, in one request."""

    send: Callable[[Replace], Table]
    """Lets the server do it, and opens the table again."""

    def publish(self) -> Table:
        """Let the server remove all rows and give the table its new definition."""
        schema = SchemaDocument.of(self.table.schema)
        made = self.send(Replace(schema=schema, from_schema_id=self.before.schema.id))
        store_of(self.table).loads.clear()  # the files were loaded into the old table
        return made


def with_highest_id(table: Table) -> Table:
    """Return a table with the highest id that a field ever had: the server does not tell it."""
    schema = table.schema
    try:
        highest = store_of(table).schemas.get(schema.id).highest_field_id
    except SchemaNotFoundError:  # a server that keeps its schemas elsewhere
        return table
    known = replace(schema, highest_field_id=max(highest, schema.highest_field_id))
    return with_definition(table, structs.replace(definition_of(table), schema=known))
