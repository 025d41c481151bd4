"""Changes of tables and views as the protocol writes them.

Source: apache/paimon@1.4.2 ``org.apache.paimon.schema.SchemaChange``,
``org.apache.paimon.view.ViewChange``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import msgspec

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.function import (
    AddDefinition,
    DropDefinition,
    FunctionChange,
    UpdateDefinition,
    change_from_json,
)
from paimonlab.spec.options.given import option_text
from paimonlab.spec.schema.change_kinds import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RemoveOption,
    RenameColumn,
    SchemaChange,
    SetOption,
    UpdateColumnComment,
    UpdateColumnDefault,
    UpdateColumnNullability,
    UpdateColumnType,
    UpdateComment,
)
from paimonlab.spec.schema.definition import assign_ids, column_type
from paimonlab.spec.types.data_types import DataField, with_nullable
from paimonlab.spec.types.field_paths import split_path
from paimonlab.spec.types.json import type_from_json, type_to_json
from paimonlab.spec.view import AddDialect, DropDialect, UpdateDialect, ViewChange

Json = dict[str, Any]


def changes_to_json(changes: Sequence[SchemaChange], fields: Sequence[DataField]) -> list[Json]:
    """Write changes of a table.

    Parameters
    ----------
    changes
        In order.
    fields
        Columns of the table before: they tell which dots are parts of names.
    """
    return [_to_json(change, tuple(fields)) for change in changes]


def _to_json(change: SchemaChange, fields: tuple[DataField, ...]) -> Json:
    match change:
        case SetOption(key, value):
            return {"action": "setOption", "key": key, "value": option_text(key, value)}
        case RemoveOption(key):
            return {"action": "removeOption", "key": key}
        case UpdateComment(comment):
            return {"action": "updateComment", "comment": comment}
        case AddColumn():
            return _added(change)
        case MoveColumn(name, first, after):
            return {"action": "updateColumnPosition", "move": _move(name, after, first=first)}
    path = list(split_path(fields, change.name))
    return {"action": _ACTIONS[type(change)], "fieldNames": path, **_of_column(change)}


_ACTIONS: Mapping[type, str] = {
    DropColumn: "dropColumn",
    RenameColumn: "renameColumn",
    UpdateColumnType: "updateColumnType",
    UpdateColumnNullability: "updateColumnNullability",
    UpdateColumnComment: "updateColumnComment",
    UpdateColumnDefault: "updateColumnDefaultValue",
}


def _of_column(change: SchemaChange) -> Json:
    match change:
        case RenameColumn():
            return {"newName": change.new_name}
        case UpdateColumnType():
            data_type = column_type(change.name, change.type)
            return {
                "newDataType": type_to_json(data_type),
                "keepNullability": data_type.nullable,
            }
        case UpdateColumnNullability():
            return {"newNullability": change.nullable}
        case UpdateColumnComment():
            return {"newComment": change.comment}
        case UpdateColumnDefault():
            return {"newDefaultValue": change.default}
    return {}


def _added(change: AddColumn) -> Json:
    path = list(split_path((), change.name))
    document: Json = {
        "action": "addColumn",
        "fieldNames": path,
        "dataType": type_to_json(assign_ids(column_type(change.name, change.type), count())),
    }
    if change.comment is not None:
        document["comment"] = change.comment
    if change.first or change.after is not None:
        document["move"] = _move(path[-1], change.after, first=change.first)
    return document


def _move(name: str, after: str | None, *, first: bool) -> Json:
    if first:
        return {"fieldName": name, "referenceFieldName": None, "type": "FIRST"}
    return {"fieldName": name, "referenceFieldName": after, "type": "AFTER"}


def changes_from_json(documents: Sequence[Json], fields: Sequence[DataField]) -> list[SchemaChange]:
    """Read changes of a table.

    Parameters
    ----------
    documents
        One for each change.
    fields
        Columns of the table before: moves to before another column, or to the end, count from
        them and the changes before.

    Raises
    ------
    SchemaError
        If one is not a change.
    UnsupportedError
        If one is not implemented.
    """
    names = [field.name for field in fields]
    return [change for document in documents for change in _from_json(document, names)]


def _from_json(document: Json, names: list[str]) -> Iterator[SchemaChange]:
    try:
        yield from _change_from_json(document, names)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        action = document.get("action")
        raise SchemaError(f"{action!r} is not a complete change of a table: {error!r}") from None


def _change_from_json(document: Json, names: list[str]) -> Iterator[SchemaChange]:
    action = document["action"]
    match action:
        case "setOption":
            yield SetOption(document["key"], document["value"])
        case "removeOption":
            yield RemoveOption(document["key"])
        case "updateComment":
            yield UpdateComment(document.get("comment"))
        case "updateColumnPosition":
            move = document["move"]
            yield _placed(MoveColumn, move["fieldName"], move, names)
        case "addColumn":
            yield _column_added(document, names)
        case _ if action in _READERS:
            yield from _READERS[action](document, names)
        case _:
            raise UnsupportedError(f"the change {action!r} of a table")


def _column_added(document: Json, names: list[str]) -> SchemaChange:
    path = document["fieldNames"]
    name, data_type = ".".join(path), type_from_json(document["dataType"])
    comment, move = document.get("comment"), document.get("move")
    if len(path) > 1:
        if move is None:
            return AddColumn(name, data_type, comment)
        kind, beside = move["type"], move.get("referenceFieldName")
        if kind not in ("FIRST", "AFTER"):
            raise UnsupportedError(f"adding the field {name} {kind}", "name the one before it")
        return AddColumn(name, data_type, comment, first=kind == "FIRST", after=beside)
    names.append(name)
    if move is None:
        return AddColumn(name, data_type, comment)
    place = _placed(MoveColumn, name, move, names)
    return AddColumn(name, data_type, comment, first=place.first, after=place.after)


def _placed(kind: type[MoveColumn], name: str, move: Json, names: list[str]) -> MoveColumn:
    """Say a move as first or after another column, and keep the order of names."""
    if name not in names:
        return kind(name, first=True)  # refused when it is applied
    others = [other for other in names if other != name]
    beside = move.get("referenceFieldName")
    match move["type"]:
        case "FIRST":
            index = 0
        case "LAST":
            index = len(others)
        case "AFTER":
            if beside not in others:
                return kind(name, after=beside)
            index = others.index(beside) + 1
        case "BEFORE":
            if beside not in others:
                return kind(name, after=beside)
            index = others.index(beside)
        case other:
            raise UnsupportedError(f"moving the column {name} {other}")
    names[:] = [*others[:index], name, *others[index:]]
    return kind(name, after=others[index - 1]) if index else kind(name, first=True)


def _dropped(document: Json, names: list[str]) -> Iterator[SchemaChange]:
    path = document["fieldNames"]
    if path[0] in names and len(path) == 1:
        names.remove(path[0])
    yield DropColumn(".".join(path))


def _renamed(document: Json, names: list[str]) -> Iterator[SchemaChange]:
    path, new_name = document["fieldNames"], document["newName"]
    if path[0] in names and len(path) == 1:
        names[names.index(path[0])] = new_name
    yield RenameColumn(".".join(path), new_name)


def _retyped(document: Json, _: list[str]) -> Iterator[SchemaChange]:
    """Read a type that says NOT NULL, leaves the column as it is, or makes it nullable."""
    name, data_type = ".".join(document["fieldNames"]), type_from_json(document["newDataType"])
    if document.get("keepNullability", False):
        yield UpdateColumnType(name, with_nullable(data_type, nullable=True))
        return
    yield UpdateColumnType(name, data_type)
    if data_type.nullable:
        yield UpdateColumnNullability(name, nullable=True)


def _renullabled(document: Json, _: list[str]) -> Iterator[SchemaChange]:
    nullable = document["newNullability"]
    yield UpdateColumnNullability(".".join(document["fieldNames"]), nullable=nullable)


def _commented(document: Json, _: list[str]) -> Iterator[SchemaChange]:
    yield UpdateColumnComment(".".join(document["fieldNames"]), document.get("newComment"))


def _defaulted(document: Json, _: list[str]) -> Iterator[SchemaChange]:
    yield UpdateColumnDefault(".".join(document["fieldNames"]), document.get("newDefaultValue"))


_READERS: Mapping[str, Callable[[Json, list[str]], Iterator[SchemaChange]]] = {
    "dropColumn": _dropped,
    "renameColumn": _renamed,
    "updateColumnType": _retyped,
    "updateColumnNullability": _renullabled,
    "updateColumnComment": _commented,
    "updateColumnDefaultValue": _defaulted,
}


def view_changes_to_json(changes: Sequence[ViewChange]) -> list[Json]:
    """Write changes of a view."""
    return [_view_to_json(change) for change in changes]


def _view_to_json(change: ViewChange) -> Json:
    match change:
        case AddDialect(dialect, query):
            return {"action": "addDialect", "dialect": dialect, "query": query}
        case UpdateDialect(dialect, query):
            return {"action": "updateDialect", "dialect": dialect, "query": query}
        case DropDialect(dialect):
            return {"action": "dropDialect", "dialect": dialect}
    return _to_json(change, ())


def view_changes_from_json(documents: Sequence[Json]) -> list[ViewChange]:
    """Read changes of a view; errors as of `changes_from_json`."""
    return [_view_from_json(document) for document in documents]


def _view_from_json(document: Json) -> ViewChange:
    try:
        match document["action"]:
            case "addDialect":
                return AddDialect(document["dialect"], document["query"])
            case "updateDialect":
                return UpdateDialect(document["dialect"], document["query"])
            case "dropDialect":
                return DropDialect(document["dialect"])
            case "setOption":
                return SetOption(document["key"], document["value"])
            case "removeOption":
                return RemoveOption(document["key"])
            case "updateComment":
                return UpdateComment(document.get("comment"))
            case action:
                raise UnsupportedError(f"the change {action!r} of a view")
    except (KeyError, TypeError) as error:
        raise SchemaError(f"a change of a view is not complete: {error!r}") from None


def function_changes_to_json(changes: Sequence[FunctionChange]) -> list[Json]:
    """Write changes of a function."""
    return [_function_to_json(change) for change in changes]


def _function_to_json(change: FunctionChange) -> Json:
    match change:
        case AddDefinition(engine, definition):
            return {"action": "addDefinition", "name": engine, "definition": definition}
        case UpdateDefinition(engine, definition):
            return {"action": "updateDefinition", "name": engine, "definition": definition}
        case DropDefinition(engine):
            return {"action": "dropDefinition", "name": engine}
    return _to_json(change, ())


def function_changes_from_json(documents: Sequence[Json]) -> list[FunctionChange]:
    """Read changes of a function.

    Raises
    ------
    SchemaError
        If one is not a change.
    """
    return [change_from_json(msgspec.json.encode(document).decode()) for document in documents]
