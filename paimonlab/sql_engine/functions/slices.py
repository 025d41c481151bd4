"""Parts and repetitions of texts whose places and lengths are computed for each row."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.functions.signatures import WrongUseError
from paimonlab.sql_engine.value import Value, cast


def count_of(value: Value) -> str:
    """Return a number of characters as BIGINT, so that sums of two have room."""
    if value.kind not in (*kinds.WHOLE[:3], kinds.VOID):
        raise WrongUseError
    number = value if value.kind == kinds.VOID else cast(value, kinds.INT)
    return f"CAST({number.text} AS BIGINT)"


def known(values: Sequence[Value], text: str) -> str:
    """Return NULL where one of the arguments is."""
    unknown = " OR ".join(f"{value.text} IS NULL" for value in values)
    return f"(CASE WHEN {unknown} THEN NULL ELSE {text} END)"


def cut(values: Sequence[Value]) -> str:
    """Write ``substring(text, begin, length)``: a negative begin counts from the end.

    What a part has before the first character counts for its length.
    """
    sql, begin = values[0].text, count_of(values[1])
    whole = f"CAST(length({sql}) AS BIGINT)"
    late = f"WHEN {begin} < 0 THEN {whole} + {begin}"
    first = f"(CASE WHEN {begin} > 0 THEN {begin} - 1 {late} ELSE 0 END)"
    start = f"greatest({first}, 0)"
    if len(values) == 2:
        return known(values, f"substring({sql}, {start} + 1)")
    length = count_of(values[2])
    end = f"least({first} + {length}, {whole})"
    return known(values, f"substring({sql}, {start} + 1, greatest({end} - {start}, 0))")


def end(values: Sequence[Value], *, is_left: bool) -> str:
    """Write the first or the last characters; none if their number is negative."""
    sql, count = values[0].text, count_of(values[1])
    if is_left:
        return known(values, f"substring({sql}, 1, greatest({count}, 0))")
    return known(values, f"(CASE WHEN {count} <= 0 THEN '' ELSE right({sql}, {count}) END)")


def padded(name: str, values: Sequence[Value]) -> str:
    """Write ``lpad`` or ``rpad``: a text that is longer is cut, also if nothing is put beside."""
    sql, length = values[0].text, count_of(values[1])
    pad = values[2].text if len(values) > 2 else "' '"
    filled = f"{name}({sql}, CAST({length} AS INTEGER), nullif({pad}, ''))"
    short = f"substring({sql}, 1, greatest({length}, 0))"
    is_short = f"{pad} = '' OR {length} <= length({sql})"
    return known(values, f"(CASE WHEN {is_short} THEN {short} ELSE {filled} END)")


def repeated(values: Sequence[Value]) -> str:
    """Write a text so many times."""
    return known(values, f"repeat({values[0].text}, greatest({count_of(values[1])}, 0))")
