"""Functions with OVER to DuckDB's SQL: partitions, orders and frames."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from paimonlab.sql_engine import aggregates, zeros
from paimonlab.sql_engine.aggregates import AGGREGATES, WINDOWS
from paimonlab.sql_engine.failures import without_volatility
from paimonlab.sql_engine.frames import frame
from paimonlab.sql_engine.protocols import Translating
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tree import check_parts
from paimonlab.sql_engine.value import Value
from paimonlab.sql_engine.words import written

_ENDED = frozenset({"first_value", "last_value", "first", "last"})
_OF_KNOWN = _ENDED | {"lag", "lead", "nth_value"}
_EXTREME = re.compile(rf"(?:min|max)\((.*)\){re.escape(aggregates.HERE)}", re.DOTALL)
_FRAMED = ("first_value", "last_value", "nth_value")
_NO_FRAME = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"


def over(translator: Translating, node: exp.Window) -> Value:
    """Translate a function with OVER."""
    if translator.allows != "all":
        raise NotTranslatedError("OVER here", "OVER")
    translator.has_windows = True
    inner = node.this
    ignored = _without_nulls(inner)
    if ignored is not None:
        return _of_known(translator, node, *ignored)
    if isinstance(inner, exp.Filter):
        found = translator.filtered_call(inner, is_window=True)
    elif isinstance(inner, exp.Anonymous) and str(inner.this).lower() in AGGREGATES:
        found = translator.aggregate(inner, is_window=True)
    elif isinstance(inner, exp.Anonymous) and str(inner.this).lower() in WINDOWS:
        name = str(inner.this).lower()
        found = aggregates.window(name, [translator.value(part) for part in inner.expressions])
    else:
        raise NotTranslatedError(f"{inner.key.upper()} with OVER", "OVER")
    if "DISTINCT" in found.pattern:
        raise NotTranslatedError("DISTINCT with OVER", "OVER")
    text, name = _window(translator, node, str(inner.this).lower())
    if node.args.get("order") or node.args.get("alias") is not None:
        found = _first_of_zeros(found)
    if found.step is not None:
        name = name.replace(
            _NO_FRAME, f"ROWS BETWEEN {found.step} FOLLOWING AND {found.step} FOLLOWING"
        )
    return found.over(f" OVER ({text})", f" OVER ({name})")


def _first_of_zeros(found: aggregates.Aggregate) -> aggregates.Aggregate:
    """Let the least and the largest number be the first of zeros with and without a sign.

    Spark takes another value only if it is smaller, or larger; DuckDB any of those that are equal.
    """
    extreme = _EXTREME.fullmatch(found.pattern)
    if extreme is None or not zeros.has_sign(found.kind):
        return found
    if " FILTER " in found.pattern:
        raise NotTranslatedError("FILTER of min() or max() of DOUBLE with OVER", "FILTER")
    zero = f"CASE WHEN {extreme[1]} = 0 THEN {extreme[1]} END"
    first = f"first_value({zero} IGNORE NULLS){aggregates.HERE}"
    return replace(
        found, pattern=f"(CASE WHEN {found.pattern} = 0 THEN {first} ELSE {found.pattern} END)"
    )


def _without_nulls(inner: exp.Expression) -> tuple[str, list[exp.Expression]] | None:
    """Return name and arguments of ``… IGNORE NULLS``; None if it is another call."""
    is_said = isinstance(inner, exp.IgnoreNulls)
    call = inner.this if is_said else inner
    if not isinstance(call, exp.Anonymous):
        return None
    name, parts = str(call.this).lower(), list(call.expressions)
    if name not in _OF_KNOWN:
        return None
    flag = parts[1] if name in _ENDED and len(parts) == 2 else None
    if isinstance(flag, exp.Boolean):
        is_said, parts = is_said or bool(flag.this), parts[:1]
        if not is_said:
            return None
    return (name, parts) if is_said else None


def _of_known(
    translator: Translating, node: exp.Window, name: str, parts: list[exp.Expression]
) -> Value:
    """Translate a function of the rows whose value is known."""
    values = [translator.value(part) for part in parts]
    plain = {"first": "first_value", "last": "last_value"}.get(name, name)
    found = aggregates.window(plain, values)
    text, shown = _window(translator, node, plain)
    if found.step is not None:
        shown = shown.replace(
            _NO_FRAME, f"ROWS BETWEEN {found.step} FOLLOWING AND {found.step} FOLLOWING"
        )
    pattern = found.pattern.replace(f"){aggregates.HERE}", f" IGNORE NULLS){aggregates.HERE}")
    called = found.name
    if name in ("first", "last") or isinstance(node.this, exp.IgnoreNulls):
        called = called.replace("first_value(", "first(").replace("last_value(", "last(")
    made = aggregates.Aggregate(pattern, found.kind, called)
    return made.over(f" OVER ({text})", f" OVER ({shown})")


def _window(translator: Translating, node: exp.Window, function: str) -> tuple[str, str]:
    check_parts(node, "this", "over", "partition_by", "order", "spec", "alias")
    alias = node.args.get("alias")
    if alias is not None:
        known = translator.windows.get(alias.name.lower())
        if known is None or node.args.get("order") or node.args.get("partition_by"):
            raise NotTranslatedError(f"the window {alias.name}", alias.name)
        named = known.copy()
        named.set("this", None)
        assert isinstance(named, exp.Window), "WINDOW names windows"
        return _window(translator, named, function)
    texts, names = [], []
    groups = [translator.value(part) for part in node.args.get("partition_by") or ()]
    if groups:
        texts.append("PARTITION BY " + ", ".join(one.text for one in groups))
        names.append("PARTITION BY " + ", ".join(one.name for one in groups))
    order, by = node.args.get("order"), list[Value]()
    if order is not None:
        terms = [translator.ordered(term) for term in order.expressions]
        by = [translator.value(term.this) for term in order.expressions]
        texts.append("ORDER BY " + ", ".join(text for text, _ in terms))
        names.append("ORDER BY " + ", ".join(name for _, name in terms))
    elif function in WINDOWS:
        raise NotTranslatedError(f"{function}() without ORDER BY", function, written(function))
    texts = [without_volatility(text) for text in texts]
    frame, frame_name = _frame(translator, node, function, by)
    return " ".join([*texts, *frame]), " ".join([*names, *frame_name])


def _frame(
    translator: Translating, node: exp.Window, function: str, order: Sequence[Value]
) -> tuple[list[str], list[str]]:
    spec = node.args.get("spec")
    if spec is None:
        if function in WINDOWS and function not in _FRAMED and function != "cume_dist":
            return [], [_NO_FRAME]
        if order:
            return [], ["RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"]
        return [], ["ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"]
    if function in WINDOWS and function not in _FRAMED:
        raise NotTranslatedError(f"a frame of {function}()", function)
    text, name = frame(translator, spec, order)
    return [text], [name]
