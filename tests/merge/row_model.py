"""Merge engines row by row, on Python values: what the columnar ones are compared with.

Written from the behaviour of apache/paimon@1.3.1 ``PartialUpdateMergeFunction``,
``AggregateMergeFunction``, ``FirstRowMergeFunction``, ``DeduplicateMergeFunction`` and the
functions of columns; a row is a dict, null is None.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal, Inexact
from typing import Any

from paimonlab.spec.merge_engine import EngineKind, MergeEngine

Row = dict[str, Any]
RETRACTS = (1, 3)
DELETE = 3
INTEGER_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}


class RefusedError(Exception):
    """The rows cannot be merged."""


class Function:
    """An aggregate function of a column, with what it remembers."""

    def __init__(self, name: str, kind: str, **options: Any) -> None:
        self.name, self.kind, self.options = name, kind, options
        self.initialized = False

    def reset(self) -> None:
        self.initialized = False

    def add(self, old: Any, new: Any) -> Any:  # noqa: PLR0911 - one a function
        name = self.name
        if name in ("last_value", "primary-key"):
            return new
        if name in ("first_value", "first_non_null_value"):
            if not self.initialized and (name == "first_value" or new is not None):
                self.initialized = True
                return new
            return old
        if name == "collect" and self.options.get("distinct"):
            if old is None and new is None:
                return None
            return list(dict.fromkeys([*(old or []), *(new or [])]))
        if old is None or new is None:
            return new if old is None else old
        return self.combine(old, new)

    def combine(self, old: Any, new: Any) -> Any:  # noqa: C901, PLR0911 - one case a function
        match self.name:
            case "last_non_null_value":
                return new
            case "sum":
                return self.fit(exact("add", old, new))
            case "product":
                return self.fit(exact("multiply", old, new), multiplied=True)
            case "max":
                return new if order(old) < order(new) else old
            case "min":
                return old if order(old) < order(new) else new
            case "bool_and":
                return old and new
            case "bool_or":
                return old or new
            case "listagg":
                return old + self.options["delimiter"] + new if old and new else old + new
            case "collect":
                return old + new
            case "merge_map":
                return old | new
            case "nested_update":
                limit = self.options.get("limit") or 2**31 - 1
                if len(old) >= limit:
                    return old
                rows = [row for row in old if row is not None]
                rows += [row for row in new if row is not None][: limit - len(old)]
                return self.by_key(rows)
        raise AssertionError(self.name)

    def by_key(self, rows: list[Row]) -> list[Row]:
        keys = self.options.get("nested_key")
        if not keys:
            return rows
        found: dict[Any, Row] = {}
        for row in rows:
            found[tuple(row[key] for key in keys)] = row
        return list(found.values())

    def older(self, old: Any, new: Any) -> Any:
        return self.add(old, new) if self.name == "collect" else self.add(new, old)

    def fit(self, number: Any, *, multiplied: bool = False) -> Any:
        if self.kind in INTEGER_BITS:
            bits = INTEGER_BITS[self.kind]
            return (number + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
        if self.kind.startswith("DECIMAL"):
            precision, scale = (int(part) for part in self.kind[8:-1].split(","))
            wide = Context(prec=100, rounding=ROUND_HALF_UP)
            number = number.quantize(Decimal(1).scaleb(-scale), context=wide)
            is_kept = not multiplied and precision <= 18
            limit = 2**63 if is_kept else 10**precision
            return number if abs(int(number.scaleb(scale, wide))) < limit else None
        return number

    def retract(self, old: Any, new: Any) -> Any:  # noqa: C901, PLR0911, PLR0912 - as above
        if self.options.get("ignore_retract"):
            return old
        match self.name:
            case "sum":
                if new is None:
                    return old
                if old is None:
                    return self.fit(exact("multiply", new, -1), multiplied=True)
                return self.fit(exact("subtract", old, new))
            case "product":
                if old is None or new is None:
                    return old
                return self.divided(old, new)
            case "last_value":
                return None
            case "primary-key":
                return new
            case "last_non_null_value":
                return old if new is None else None
            case "collect":
                if old is None or not new:
                    return old
                taken, kept = list(new), []
                for element in old:
                    if element in taken:
                        taken.remove(element)
                    else:
                        kept.append(element)
                return kept
            case "merge_map":
                if old is None or not new:
                    return old
                return {key: value for key, value in old.items() if key not in new}
            case "nested_update":
                if old is None or new is None:
                    return old
                keys = self.options.get("nested_key") or ("id", "q")
                taken = [tuple(row[key] for key in keys) for row in new if row is not None]
                rows = [row for row in old if row is not None]
                return self.by_key([r for r in rows if tuple(r[k] for k in keys) not in taken])
        raise RefusedError(self.name)

    def divided(self, old: Any, new: Any) -> Any:
        if self.kind == "DOUBLE":
            if new == 0:
                return (
                    float("nan")
                    if old == 0 or math.isnan(old)
                    else float("inf") * old * (-1.0 if str(new).startswith("-") else 1.0)
                )
            return old / new
        if new == 0:
            raise RefusedError(self.name)
        if self.kind.startswith("DECIMAL"):
            context = Context(prec=200)
            quotient = context.divide(old, new)
            if context.flags[Inexact]:
                raise RefusedError(self.name)
            return self.fit(quotient, multiplied=True)
        quotient = abs(old) // abs(new)
        return self.fit(quotient if (old < 0) == (new < 0) else -quotient)


def exact(operation: str, left: Any, right: Any) -> Any:
    """Compute; decimals with all digits."""
    if isinstance(left, Decimal):
        return getattr(Context(prec=200), operation)(left, Decimal(right))
    return {"add": left + right, "subtract": left - right, "multiply": left * right}[operation]


def order(value: Any) -> Any:
    """Order values as Java compares them."""
    if isinstance(value, float):
        if math.isnan(value):
            return 2**63
        bits: int = struct.unpack(">q", struct.pack(">d", value))[0]
        return bits if bits >= 0 else bits ^ (2**63 - 1)
    return value.encode() if isinstance(value, str) else value


def merged(
    rows: Sequence[tuple[int, Row]],
    engine: MergeEngine,
    functions: dict[str, Function],
    required: frozenset[str],
) -> tuple[int, Row]:
    """Merge the rows of one key, oldest first: (kind, row) each."""
    if len(rows) == 1:
        return rows[0]
    for function in functions.values():
        function.reset()
    match engine.kind:
        case EngineKind.AGGREGATION:
            return _filled(_aggregated(rows, engine, functions, required), rows, required)
        case EngineKind.PARTIAL_UPDATE:
            return _filled(_Partial(engine, functions, required, rows).run(), rows, required)
    chosen = None
    for kind, row in rows:
        if kind in RETRACTS and engine.ignore_delete:
            continue
        if kind in RETRACTS and engine.kind is EngineKind.FIRST_ROW:
            raise RefusedError
        if chosen is None or engine.kind is EngineKind.DEDUPLICATE:
            chosen = (kind, row)
    return chosen or (DELETE, rows[-1][1])


def _filled(
    result: tuple[int, Row], rows: Sequence[tuple[int, Row]], required: frozenset[str]
) -> tuple[int, Row]:
    """Refuse a row without a value that it must have; one that is gone may have any."""
    kind, row = result
    lacking = [name for name in row if name in required and row[name] is None]
    if lacking and kind not in RETRACTS:
        raise RefusedError(lacking)
    return kind, row | {name: rows[0][1][name] for name in lacking}


def _blank(names: Sequence[str], required: frozenset[str], given: Row) -> Row:
    return {name: given[name] if name in required else None for name in names}


def _aggregated(
    rows: Sequence[tuple[int, Row]],
    engine: MergeEngine,
    functions: dict[str, Function],
    required: frozenset[str],
) -> tuple[int, Row]:
    names = list(rows[0][1])
    result: Row = dict.fromkeys(names)
    is_deleted = False
    for kind, row in rows:
        is_deleted = engine.removes_on_delete and kind == DELETE
        if is_deleted:
            result = _blank(names, required, row)
            continue
        for name in names:
            function = functions[name]
            step = function.retract if kind in RETRACTS else function.add
            result[name] = step(result[name], row[name])
    if is_deleted:
        result |= {name: row[name] for name in engine.sequence_fields}
    return (DELETE if is_deleted else 0), result


class _Partial:
    def __init__(
        self,
        engine: MergeEngine,
        functions: dict[str, Function],
        required: frozenset[str],
        rows: Sequence[tuple[int, Row]],
    ) -> None:
        self.engine, self.functions, self.required, self.rows = engine, functions, required, rows
        self.names = list(rows[0][1])
        self.row: Row = dict.fromkeys(self.names)
        self.is_deleted = False

    def run(self) -> tuple[int, Row]:
        filled = has_add = False
        for kind, row in self.rows:
            self.is_deleted = False
            if kind not in RETRACTS:
                self.add(row)
                filled = has_add = True
                continue
            if not filled:
                self.row |= {name: row[name] for name in self.names if name in self.required}
                filled = True
            if self.engine.ignore_delete:
                continue
            if self.engine.groups:
                self.retract(kind, row)
            elif self.engine.removes_on_delete:
                if kind == DELETE:
                    self.remove(row)
            else:
                raise RefusedError
        if self.is_deleted:
            self.row |= {name: row[name] for name in self.engine.sequence_fields}
        return (DELETE if self.is_deleted or not has_add else 0), self.row

    def remove(self, row: Row) -> None:
        self.is_deleted = True
        self.row = _blank(self.names, self.required, row)

    def group(self, name: str) -> Any:
        return self.engine.group_of(name)

    def sequence(self, group: Any, row: Row) -> list[Any]:
        values = [row[name] for name in group.sequence_fields]
        return [(value is not None, 0 if value is None else value) for value in values]

    def add(self, row: Row) -> None:  # noqa: C901 - as Java does
        before = dict(self.row)
        for name in self.names:
            group, function = self.group(name), self.functions.get(name)
            value = row[name]
            if not self.engine.groups:
                if value is not None:
                    self.row[name] = value
            elif group is None:
                if function is not None:
                    self.row[name] = function.add(self.row[name], value)
                elif value is not None:
                    self.row[name] = value
            elif all(row[field] is None for field in group.sequence_fields):
                continue
            elif self.sequence(group, row) >= self.sequence(group, before):
                if function is None or name in group.sequence_fields:
                    self.row[name] = value
                else:
                    self.row[name] = function.add(self.row[name], value)
            elif function is not None and name not in group.sequence_fields:
                self.row[name] = function.older(self.row[name], value)

    def retract(self, kind: int, row: Row) -> None:
        before = dict(self.row)
        for name in self.names:
            group, function = self.group(name), self.functions.get(name)
            if group is None or all(row[field] is None for field in group.sequence_fields):
                continue
            is_newer = self.sequence(group, row) >= self.sequence(group, before)
            if name in group.sequence_fields:
                if is_newer and kind == DELETE and group.removes_record:
                    self.remove(row)
                    return
                if is_newer:
                    self.row[name] = row[name]
            elif function is not None:
                self.row[name] = function.retract(self.row[name], row[name])
            elif is_newer:
                self.row[name] = None
