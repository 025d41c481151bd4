"""What a query gives columns that are stored: by Spark's rules for assignments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paimonlab.spec.sql_text.call_text import literal
from paimonlab.spec.types.data_types import AtomicType, DataField
from paimonlab.sql_engine import kinds, pushing
from paimonlab.sql_engine.engine import Planned
from paimonlab.sql_engine.kinds import Kind, duck_type, kind_of, shape, spark_type
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value

_WRITTEN = {
    kinds.DATE: "DATE '2026-01-31', or to_date(text, 'dd.MM.yyyy')",
    kinds.TIMESTAMP: "TIMESTAMP '2026-01-31 12:00:00'",
    kinds.TIMESTAMP_NTZ: "TIMESTAMP_NTZ '2026-01-31 12:00:00'",
    kinds.BOOLEAN: "true or false",
}


def check_stored(
    kind: Kind, target: Kind | None, column: str, *, is_converted: bool = False
) -> None:
    """Refuse what Spark stores only after a conversion that is not proven.

    Parameters
    ----------
    kind
        Of the value.
    target
        Of the column; None: it is not computed with.
    column
        Its name.
    is_converted
        Whether DuckDB converts the value, which makes texts of numbers and days as well.
    """
    is_stored = target is not None and (
        kind in (target, kinds.VOID)
        or (is_converted and target == kinds.STRING and _is_written_plainly(kind))
        or (kinds.is_whole(kind) and kinds.is_whole(target))
        or _is_exact(kind, target)
        or (kinds.is_numeric(kind) and target == kinds.common(kind, target) == kinds.DOUBLE)
    )
    if not is_stored:
        shown = "its type" if target is None else spark_type(target)
        what = f"INSERT of {spark_type(kind)} into {column}, {shown},"
        raise NotTranslatedError(what, "INSERT", _advice(kind, target))


def _advice(kind: Kind, target: Kind | None) -> str:
    """Say how a value of another type is written, or converted."""
    if target is None or not isinstance(target, AtomicType):
        return ""
    if kind == kinds.STRING and target in _WRITTEN:
        return f"Write {_WRITTEN[target]}"
    return f"Convert it: CAST(… AS {spark_type(target)})"


def _is_written_plainly(kind: Kind) -> bool:
    """Tell whether values become the same texts."""
    plain = (kinds.DATE, kinds.BOOLEAN)
    return kinds.is_whole(kind) or kinds.is_decimal(kind) or kind in plain


def _is_exact(kind: Kind, target: Kind) -> bool:
    """Tell whether each number becomes a decimal of the same value, or is refused."""
    has_digits = kinds.is_whole(kind) or kinds.is_decimal(kind)
    return has_digits and kinds.is_decimal(target) and shape(kind)[1] <= shape(target)[1]


def stored_query(planned: Planned, targets: Sequence[DataField]) -> Planned:
    """Return the query with the names and types of the columns that get its rows."""
    outputs, columns = [], []
    for number, ((_, kind), field) in enumerate(zip(planned.columns, targets, strict=True)):
        stored = kind_of(field.type)
        assert stored is not None, "what is stored has a type"
        is_same = kind == stored or not kinds.is_atomic(stored)
        outputs.append(f"o{number}" if is_same else f"CAST(o{number} AS {duck_type(stored)})")
        columns.append((field.name, stored))
    names = ", ".join(f"o{number}" for number in range(len(targets)))
    text = f"SELECT {', '.join(outputs)} FROM ({planned.text}) AS q({names})"
    return Planned(text, columns, planned.parts)


def constant_value(value: Value, kind: Kind | None, column: str) -> Any:
    """Return a value of the statement as verbs of a table take it: a text as SQL."""
    if value.is_literal and value.literal is None:
        return "NULL"
    if kind == kinds.BOOLEAN and type(value.literal) is bool:
        return value.literal
    constant = pushing.constant(value, kind)
    if constant is None:
        raise NotTranslatedError(f"SET {column} to such a value", column)
    return literal(constant) if isinstance(constant, str) else constant
