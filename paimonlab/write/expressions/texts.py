"""Functions of texts."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_scalar
from paimonlab.datafile.per_value import per_value
from paimonlab.errors import UnsupportedError
from paimonlab.write.expressions.coercion import converted
from paimonlab.write.expressions.expression import Expression


def concat(parts: Sequence[Expression]) -> Expression:
    """Join values as texts; null if one is null."""
    text = f"concat({', '.join(part.text for part in parts)})"
    if any(pa.types.is_nested(part.type) or pa.types.is_binary(part.type) for part in parts):
        raise UnsupportedError("concat of anything but texts, numbers and times", text)
    texts = [converted(part, pa.string(), is_explicit=True) for part in parts]

    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        columns = [part.evaluate(rows) for part in texts]
        return pc.binary_join_element_wise(*columns, arrow_scalar(""), null_handling="emit_null")

    return Expression(pa.string(), evaluate, text)


def upper(value: Expression) -> Expression:
    """Return a text in capital letters."""
    return _of_text("upper", value)


def lower(value: Expression) -> Expression:
    """Return a text in small letters."""
    return _of_text("lower", value)


_OF_ASCII = {"upper": pc.ascii_upper, "lower": pc.ascii_lower}
_OF_ANY = {"upper": str.upper, "lower": str.lower}


def _of_text(name: str, value: Expression) -> Expression:
    texts = converted(value, pa.string(), is_explicit=True)

    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        array = texts.evaluate(rows)
        if pc.all(pc.string_is_ascii(array)).as_py() is not False:
            return _OF_ASCII[name](array)
        # One letter may become two, as in Java: Arrow's functions do not do that.
        return per_value(array, _OF_ANY[name], pa.string())

    return Expression(pa.string(), evaluate, f"{name}({value.text})")
