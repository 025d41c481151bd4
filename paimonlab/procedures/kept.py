"""Procedures about views and functions, which catalogs of files do not keep.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.AlterViewDialectProcedure``,
``CreateFunctionProcedure``, ``AlterFunctionProcedure``, ``DropFunctionProcedure``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from paimonlab.catalog.functions import FunctionCatalog
from paimonlab.catalog.views import ViewCatalog
from paimonlab.errors import ArgumentError, SchemaError, UnsupportedError
from paimonlab.procedures.declare import DONE, RESULT, optional, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row
from paimonlab.procedures.texts import key_values
from paimonlab.spec.function import Function, change_from_json
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.json import fields_from_json
from paimonlab.spec.view import AddDialect, DropDialect, UpdateDialect

_SPARK = "spark"
_DONE_WITH = {AddDialect: "added", UpdateDialect: "changed", DropDialect: "dropped"}


def _alter_view_dialect(call: Invocation) -> Sequence[Row]:
    kept = call.catalog
    if not isinstance(kept, ViewCatalog):
        raise UnsupportedError(f"sys.{call.procedure}", "a catalog of files has no views")
    name, change = call.table_name("view"), _change(call)
    kept.alter_view(name, change)
    call.note(f"{name}: {_DONE_WITH[type(change)]} dialect {change.dialect}")
    return DONE


def _change(call: Invocation) -> AddDialect | UpdateDialect | DropDialect:
    dialect = call.filled("engine") or _SPARK
    match call.text("action"):
        case "add":
            return AddDialect(dialect, call.required_text("query"))
        case "update":
            return UpdateDialect(dialect, call.required_text("query"))
        case "drop":
            return DropDialect(dialect)
        case other:
            raise ArgumentError(call.procedure, f"action => {other!r} is not add, update or drop")


def _create_function(call: Invocation) -> Sequence[Row]:
    function = Function(
        input_params=_parameters(call, "inputParams"),
        return_params=_parameters(call, "returnParams"),
        is_deterministic=call.flag("deterministic", default=True),
        comment=call.text("comment"),
        options=_options(call),
    )
    name = call.table_name("function")
    _functions(call).create_function(name, function)
    call.note(f"created function {name}")
    return DONE


def _options(call: Invocation) -> dict[str, str]:
    text = call.filled("options")
    return key_values(text, procedure=call.procedure, argument="options") if text else {}


def _alter_function(call: Invocation) -> Sequence[Row]:
    functions = _functions(call)
    try:
        change = change_from_json(call.required_text("change"))
    except SchemaError as error:
        raise ArgumentError(call.procedure, f"change => {error}") from None
    name = call.table_name("function")
    functions.alter_function(name, change)
    call.note(f"altered function {name}")
    return DONE


def _drop_function(call: Invocation) -> Sequence[Row]:
    name = call.table_name("function")
    _functions(call).drop_function(name)
    call.note(f"dropped function {name}")
    return DONE


def _functions(call: Invocation) -> FunctionCatalog:
    if not isinstance(call.catalog, FunctionCatalog):
        raise UnsupportedError(f"sys.{call.procedure}", "a catalog of files has no functions")
    return call.catalog


def _parameters(call: Invocation, name: str) -> tuple[DataField, ...]:
    try:
        fields = msgspec.json.decode(call.required_text(name), type=list[dict[str, Any]])
        return fields_from_json(fields)
    except (msgspec.MsgspecError, SchemaError) as error:
        raise ArgumentError(
            call.procedure,
            f'{name} => {error}; write [{{"id": 0, "name": "x", "type": "INT"}}]',
        ) from None


_FUNCTION = required("function", "STRING", "The function, as database.function.")

KEPT_PROCEDURES = (
    Procedure(
        name="alter_view_dialect",
        parameters=(
            required("view", "STRING", "The view, as database.view."),
            required("action", "STRING", "add, update or drop."),
            optional("engine", "STRING", "Whose dialect; none: spark."),
            optional("query", "STRING", "The view in that dialect."),
        ),
        result=RESULT,
        description="Say a view in the dialect of another engine.",
        rows=_alter_view_dialect,
    ),
    Procedure(
        name="create_function",
        parameters=(
            _FUNCTION,
            required("inputParams", "STRING", "What it takes, as JSON."),
            required("returnParams", "STRING", "What it gives, as JSON."),
            optional("deterministic", "BOOLEAN", "Whether it always gives the same."),
            optional("comment", "STRING", "What it is for."),
            optional("options", "STRING", "Its options: k=v,k2=v2."),
        ),
        result=RESULT,
        description="Make a function.",
        rows=_create_function,
    ),
    Procedure(
        name="alter_function",
        parameters=(_FUNCTION, required("change", "STRING", "What changes, as JSON.")),
        result=RESULT,
        description="Change a function.",
        rows=_alter_function,
    ),
    Procedure(
        name="drop_function",
        parameters=(_FUNCTION,),
        result=RESULT,
        description="Delete a function.",
        rows=_drop_function,
    ),
)
