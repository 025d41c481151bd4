"""``CALL sys.…`` without Spark: the same procedures, run by this process."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from paimonlab import procedures
from paimonlab.errors import (
    ArgumentError,
    PaimonError,
    ProcedureNotFoundError,
    habits,
)
from paimonlab.notebook.cell.call_statement import CallStatement, parse_call
from paimonlab.notebook.cell.parameters import Values
from paimonlab.notebook.cell.query_error import QueryError, missing_name
from paimonlab.notebook.cell.statements import Statement
from paimonlab.notebook.cell.topics import topic_of
from paimonlab.notebook.kernel.interruptible import run_interruptibly
from paimonlab.notebook.kernel.progress import ProgressDisplay
from paimonlab.notebook.results.result import Result, Stats
from paimonlab.spec.sql_text.tokens import Span
from paimonlab.spec.types.data_types import with_nullable
from paimonlab.spec.types.text import format_type

if TYPE_CHECKING:
    from paimonlab.notebook.connections.warehouse_connection import Connection
    from paimonlab.procedures import Procedure

NAMESPACE = "sys"


def run_call(
    connection: Connection, statement: Statement, args: Values, *, display: ProgressDisplay
) -> Result:
    """Run a call of a procedure.

    Parameters
    ----------
    connection
        Where its table is.
    statement
        The call.
    args
        Values of the parameters.
    display
        Shows how far it is while it lasts, under the procedure's name.

    Raises
    ------
    QueryError
        If it is not such a call, or if it fails.
    Cancelled
        If the kernel was interrupted.
    """
    begin = time.monotonic()
    call = parse_call(statement, args)
    procedure, arguments = bound_call(connection, call)
    noted: list[object] = []
    try:
        rows = run_interruptibly(
            lambda progress: procedure.call(
                connection.catalog,
                arguments,
                catalog_name=connection.catalog_name,
                progress=progress,
                noted=noted,
            ),
            display=display.labelled(f"sys.{procedure.name}"),
        )
    except PaimonError as error:
        raise failed(call, error) from error
    stats = Stats(
        row_count=rows.num_rows,
        has_more_rows=False,
        fetched_bytes=rows.nbytes,
        duration_seconds=time.monotonic() - begin,
    )
    types = [format_type(with_nullable(field.type, nullable=True)) for field in procedure.result]
    return Result(
        rows,
        types=[text.lower() for text in types],
        sql=statement.text,
        title=statement.title,
        stats=stats,
        spark=None,
        said=procedures.told(noted),
    )


def bound_call(connection: Connection, call: CallStatement) -> tuple[Procedure, dict[str, object]]:
    """Find the procedure of a call and give the arguments to its parameters.

    Raises
    ------
    QueryError
        If there is no such procedure, or the arguments are not what it takes.
    """
    *namespace, name = call.name
    if len(namespace) == 2 and namespace[0] == connection.catalog_name:
        namespace = namespace[1:]
    if [part.lower() for part in namespace] != [NAMESPACE]:
        raise QueryError(
            f"{'.'.join(call.name)} is not a procedure; Paimon's are in sys.",
            topic="call",
            statement=call.statement,
            span=call.name_span,
            hint=f"CALL sys.{habits.procedure(name)}(…)",
        )
    try:
        procedure = procedures.find(name)
        return procedure, procedures.bind(procedure, call.positional, call.named)
    except PaimonError as error:
        raise failed(call, error) from error


def failed(call: CallStatement, error: PaimonError) -> QueryError:
    """Turn what a call failed with into an error that points into the cell."""
    topic = topic_of(error, "call")
    span = _span(call, error)
    return QueryError(str(error), topic=topic, statement=call.statement, span=span)


def _span(call: CallStatement, error: PaimonError) -> Span:
    """Find what an error is about: an argument, or the procedure."""
    if isinstance(error, ProcedureNotFoundError):
        return call.name_span
    problem = error.problem if isinstance(error, ArgumentError) else str(error)
    missing = missing_name(error)
    for argument in call.arguments:
        if str(argument.value) in missing:
            return argument.span
    for name, argument in reversed(list(zip(_names(call), call.arguments, strict=True))):
        if name and problem.startswith((f"{name} ", f"has no parameter {name!r}")):
            return argument.span
    for argument in call.arguments:
        if isinstance(argument.value, str) and re.search(
            rf"\b{re.escape(argument.value)}\b", problem
        ):
            return argument.span
    return call.name_span


def _names(call: CallStatement) -> list[str]:
    """Name each argument; "" if there is no parameter at its position."""
    procedure = procedures.PROCEDURES.get(call.name[-1].lower())
    names = [parameter.name for parameter in procedure.parameters] if procedure else []
    names += [""] * (len(call.arguments) - len(names))
    return [argument.name or name for argument, name in zip(call.arguments, names, strict=False)]
