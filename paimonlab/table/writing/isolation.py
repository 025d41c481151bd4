"""What a statement must not miss: rows that others add while it runs.

``write.isolation`` is an option of paimonlab alone. ``snapshot``, the default, is what Java Paimon
does: rows that others add meanwhile are as if they had come later.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from paimonlab.commit.read_set import Mask
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.conditions import Conditions
from paimonlab.scan.pruning import matches_keys, matches_partitions, matches_values
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.table.definition import TableDefinition

_SERIALIZABLE = "serializable"


class IsolationOptions(OptionSlice):
    """The table option that says what statements must not miss."""

    isolation: str = option_field("write.isolation", "enum", "snapshot")
    """``write.isolation``: snapshot or serializable."""


def is_serializable(options: Options) -> bool:
    """Whether statements must be as if they had run one after the other."""
    return options.slice(IsolationOptions).isolation == _SERIALIZABLE


def rows_of_interest(
    definition: TableDefinition, schemas: SchemaManager, predicate: Predicate | None
) -> Callable[[pa.Table], Mask] | None:
    """Return what marks files that may hold rows of a condition; None: others may add such rows.

    Parameters
    ----------
    definition, schemas
        The table's definition and schemas.
    predicate
        Bound to its schema; None: every row.
    """
    if not is_serializable(definition.options):
        return None
    schema = definition.schema
    conditions = Conditions.of(predicate, schema)

    def may_match(entries: pa.Table) -> Mask:
        if conditions.is_impossible:
            return np.zeros(entries.num_rows, np.bool_)
        mask = matches_partitions(entries, conditions, schema)
        if schema.primary_keys:
            # Other columns of a key may be in other files.
            return mask & matches_keys(entries, conditions, schema, schemas)
        return mask & matches_values(entries, conditions, schema, schemas)

    return may_match
