"""Views and functions between their values and the protocol's documents."""

from __future__ import annotations

import msgspec

from paimonlab.catalog.rest.wire import FunctionAnswer, ViewSchemaDocument
from paimonlab.spec.decoding import ready
from paimonlab.spec.function import Function
from paimonlab.spec.view import View


def view_of(document: ViewSchemaDocument, name: str) -> View:
    """Read a view.

    Raises
    ------
    CorruptMetadataError
        If it does not follow the format. ``name`` is only for the message.
    """
    full = ViewSchemaDocument(
        fields=document.fields,
        query=document.query,
        dialects=document.dialects or {},
        comment=document.comment,
        options=document.options or {},
    )
    return View.from_json(msgspec.json.encode(full), name=name)


def view_document(view: View) -> ViewSchemaDocument:
    """Write a view."""
    return msgspec.json.decode(view.to_json(), type=ready(ViewSchemaDocument))


def function_of(document: FunctionAnswer, name: str) -> Function:
    """Read a function; errors as of `view_of`."""
    full = FunctionAnswer(
        name=document.name,
        input_params=document.input_params or [],
        return_params=document.return_params or [],
        deterministic=document.deterministic,
        definitions=document.definitions or {},
        comment=document.comment,
        options=document.options or {},
    )
    return Function.from_json(msgspec.json.encode(full), name=name)


def function_document(function: Function, name: str, *, uuid: str = "") -> FunctionAnswer:
    """Write a function."""
    document = msgspec.json.decode(function.to_json())
    return msgspec.convert({"name": name, "uuid": uuid, **document}, FunctionAnswer)
