"""Aggregate functions of columns: which there are and what types they take.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.aggregate.factory``.
"""

from __future__ import annotations

from msgspec import Struct

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)
from paimonlab.spec.types.text import format_type

PRIMARY_KEY = "primary-key"
"""What key columns have for a function: all rows agree."""

_NUMERIC = frozenset(
    {
        *(TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT),
        *(TypeRoot.FLOAT, TypeRoot.DOUBLE, TypeRoot.DECIMAL),
    }
)
_UNORDERED = frozenset({TypeRoot.BOOLEAN, TypeRoot.VARIANT, TypeRoot.BLOB})
_RETRACTING = frozenset(
    {
        *("sum", "product", "last_value", "last_non_null_value"),
        *("collect", "merge_map", "nested_update", PRIMARY_KEY),
    }
)
_ROOTS = {
    **dict.fromkeys(("sum", "product"), _NUMERIC),
    **dict.fromkeys(("max", "min"), frozenset(TypeRoot) - _UNORDERED),
    **dict.fromkeys(("bool_and", "bool_or"), frozenset({TypeRoot.BOOLEAN})),
    "listagg": frozenset({TypeRoot.VARCHAR}),
    **dict.fromkeys(
        ("rbm32", "rbm64", "hll_sketch", "theta_sketch"), frozenset({TypeRoot.VARBINARY})
    ),
}


class Aggregate(Struct, frozen=True, kw_only=True):
    """How the values of a column become one."""

    function: str
    """As the option ``fields.<column>.aggregate-function`` has it, or `PRIMARY_KEY`."""
    ignore_retract: bool = False
    """Whether ``-U`` and ``-D`` leave the value as it is."""
    delimiter: str = ","
    """Of ``listagg``."""
    is_distinct: bool = False
    """Whether ``collect`` keeps one of equal elements."""
    nested_key: tuple[str, ...] = ()
    """Fields that tell the ROWs of ``nested_update`` apart; (): all rows are kept."""
    count_limit: int | None = None
    """How many ROWs ``nested_update`` gathers."""

    @property
    def retracts(self) -> bool:
        """Whether the function supports retractions."""
        return self.ignore_retract or self.function in _RETRACTING


def check_aggregate(column: str, data_type: DataType, aggregate: Aggregate) -> None:
    """Check that a function takes the type of its column.

    Raises
    ------
    SchemaError
        If it does not.
    UnsupportedError
        If the options ask for something that is not implemented.
    """
    function = aggregate.function
    if not _takes(function, data_type):
        raise SchemaError(
            f"column {column!r}: the aggregate function {function!r} does not take "
            f"{format_type(data_type)}"
        )
    match function, data_type:
        case "listagg", _ if aggregate.is_distinct:
            raise UnsupportedError(
                f"fields.{column}.distinct = 'true' with 'listagg'",
                "not every release of Paimon obeys it",
            )
        case "collect", ArrayType(element) if aggregate.is_distinct and _has_bytes(element):
            raise UnsupportedError(
                f"fields.{column}.distinct = 'true' with {format_type(data_type)}",
                "Paimon never takes two binary values for equal",
            )
        case "nested_update", ArrayType(RowType(fields)):
            names = {field.name for field in fields}
            if missing := [name for name in aggregate.nested_key if name not in names]:
                raise SchemaError(
                    f"option 'fields.{column}.nested-key': {format_type(data_type)} has no field "
                    f"{missing[0]!r}"
                )


def _takes(function: str, data_type: DataType) -> bool:
    match function:
        case "collect":
            return isinstance(data_type, ArrayType)
        case "merge_map":
            return isinstance(data_type, MapType)
        case "nested_update":
            return isinstance(data_type, ArrayType) and isinstance(data_type.element, RowType)
    if function not in _ROOTS:
        return True
    return isinstance(data_type, AtomicType) and data_type.root in _ROOTS[function]


def _has_bytes(data_type: DataType) -> bool:
    match data_type:
        case AtomicType(root=root):
            return root in (TypeRoot.BINARY, TypeRoot.VARBINARY)
        case ArrayType(element):
            return _has_bytes(element)
        case RowType(fields):
            return any(_has_bytes(field.type) for field in fields)
    return False
