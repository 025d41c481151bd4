"""``CALL sys.procedure(argument => value, …)`` in a cell: what it says, with its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from paimonlab.notebook.cell.parameters import Bound, Values, bind
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import Statement
from paimonlab.spec.sql_text import call_syntax
from paimonlab.spec.sql_text.call_syntax import Call, CallSyntaxError, GivenArgument, Placeholder

_FORM = "CALL sys.compact(table => 'db.t'): literals and :parameters only; see %paimon_help call"


class CallStatement(Call, frozen=True, kw_only=True):
    """A call of a procedure; parameters have their values."""

    statement: Statement


def is_call(statement: Statement) -> bool:
    """Tell whether a statement calls a procedure."""
    return statement.tokens[0].text.upper() == "CALL"


def parse_call(statement: Statement, args: Values) -> CallStatement:
    """Read a statement that begins with CALL.

    Parameters
    ----------
    statement
        The statement.
    args
        Values of the parameters.

    Raises
    ------
    QueryError
        If it is not of that form, if a value is neither a literal nor a parameter, or if a
        parameter has no value.
    """
    values = bind(statement, args)
    try:
        call = call_syntax.parse_call(statement.tokens, has_parameters=True)
    except CallSyntaxError as error:
        # Not `from error`: a cause is something with a trace to show.
        raise QueryError(
            str(error), topic="call", statement=statement, span=error.span, hint=_FORM
        ) from None
    return CallStatement(
        name=call.name,
        name_span=call.name_span,
        arguments=tuple(_filled(call.arguments, values)),
        statement=statement,
    )


def _filled(arguments: tuple[GivenArgument, ...], values: Bound) -> Iterator[GivenArgument]:
    """Put values in the places of parameters."""
    in_order: Iterator[Any] = iter(values if isinstance(values, list) else ())
    for argument in arguments:
        if not isinstance(argument.value, Placeholder):
            yield argument
        elif argument.value.name is None:
            yield replace(argument, value=next(in_order))
        else:
            assert isinstance(values, dict), "a statement has names or ?, never both"
            yield replace(argument, value=values[argument.value.name])
