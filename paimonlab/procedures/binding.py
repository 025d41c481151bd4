"""Which argument is for which parameter, and whether it has its type.

Source: apache/paimon@1.3.1
``org.apache.paimon.spark.catalyst.analysis.PaimonProcedureResolver``; named arguments may follow
positional ones, as in Spark's own CALL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal

from paimonlab.errors import ArgumentError, close_matches, habits
from paimonlab.procedures.procedure import Parameter, Procedure
from paimonlab.spec.types.data_types import AtomicType, DataType, MapType, TypeRoot
from paimonlab.spec.types.text import format_type

_BITS = {TypeRoot.INT: 32, TypeRoot.BIGINT: 64}


def bind(
    procedure: Procedure,
    positional: Sequence[object] = (),
    named: Mapping[str, object] | Iterable[tuple[str, object]] = (),
) -> dict[str, object]:
    """Give every argument to its parameter.

    Parameters
    ----------
    procedure
        What is called.
    positional
        Values in the order of the parameters.
    named
        Values by name, in upper or lower case; pairs, as a name may be given twice by mistake.

    Returns
    -------
    dict
        The arguments that were given, by the names of the parameters, in their order.

    Raises
    ------
    ArgumentError
        If there are too many, a name is unknown or given twice, a required one is missing, or a
        value does not have the parameter's type.
    """
    parameters = {parameter.name.lower(): parameter for parameter in procedure.parameters}
    if len(positional) > len(parameters):
        raise ArgumentError(
            procedure.name, f"takes {len(parameters)} arguments, {len(positional)} were given"
        )
    given: dict[str, object] = dict(zip(parameters, positional, strict=False))
    for name, value in named.items() if isinstance(named, Mapping) else named:
        known = [parameter.name for parameter in procedure.parameters]
        if name.lower() not in parameters:
            raise ArgumentError(
                procedure.name,
                f"has no parameter {name!r}; it has {', '.join(known)}."
                f"{habits.parameter(name, known) or close_matches(name, known)}",
            )
        if name.lower() in given:
            raise ArgumentError(procedure.name, f"{name} is given twice")
        given[name.lower()] = value
    missing = [
        parameter.name
        for key, parameter in parameters.items()
        if parameter.is_required and given.get(key) is None
    ]
    if missing:
        raise ArgumentError(procedure.name, f"needs {', '.join(missing)}")
    return {
        parameter.name: _typed(procedure.name, parameter, given[key])
        for key, parameter in parameters.items()
        if key in given
    }


def _typed(procedure: str, parameter: Parameter, value: object) -> object:
    """Return a value as its parameter has it; what could lose something is refused."""
    if value is None:
        return None
    typed = _as(parameter.type, value)
    if typed is None:
        raise ArgumentError(
            procedure,
            f"{parameter.name} => {value!r} is not a valid {format_type(parameter.type)}",
        )
    return typed


def _as(data_type: DataType, value: object) -> object | None:
    if isinstance(data_type, MapType):
        return _as_texts(value)
    assert isinstance(data_type, AtomicType), "procedures take maps and atomic values"
    if data_type.root is TypeRoot.BOOLEAN:
        return value if isinstance(value, bool) else None
    if data_type.root in _BITS:
        limit = 1 << (_BITS[data_type.root] - 1)
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        return value if -limit <= value < limit else None
    return _as_text(value)


def _as_texts(value: object) -> dict[str, str] | None:
    if not isinstance(value, Mapping):
        return None
    is_text = all(isinstance(part, str) for pair in value.items() for part in pair)
    return dict(value) if is_text else None


def _as_text(value: object) -> str | None:
    """Return what Spark makes of a value where text is asked for."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        local = value.astimezone().replace(tzinfo=None) if value.tzinfo else value
        text = local.isoformat(sep=" ")
        return text.rstrip("0") if "." in text else text
    if isinstance(value, str | int | date):
        return str(value)
    return format(value, "f") if isinstance(value, Decimal) else None
