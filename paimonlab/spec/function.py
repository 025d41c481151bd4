"""A function as a catalog keeps it: what it takes and gives, and its definitions for engines.

Source: apache/paimon@1.3.1 ``org.apache.paimon.function.FunctionImpl``, ``FunctionDefinition``,
``FunctionChange``, ``org.apache.paimon.rest.responses.GetFunctionResponse``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import msgspec

from paimonlab.errors import AlreadyExistsError, CorruptMetadataError, SchemaError
from paimonlab.secrets import hides_secrets
from paimonlab.spec.decoding import ready
from paimonlab.spec.described import redescribed, without
from paimonlab.spec.schema.change_kinds import RemoveOption, SetOption, UpdateComment
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.json import fields_from_json, fields_to_json


class FunctionResource(msgspec.Struct, frozen=True, rename="camel"):
    """A file that a function needs."""

    resource_type: str
    """``JAR``, ``FILE`` or ``ARCHIVE``."""
    uri: str


class FileDefinition(
    msgspec.Struct, frozen=True, rename="camel", tag_field="type", tag="file", omit_defaults=True
):
    """A class in files."""

    file_resources: tuple[FunctionResource, ...]
    language: str | None = None
    class_name: str | None = None
    function_name: str | None = None


class SqlDefinition(msgspec.Struct, frozen=True, tag_field="type", tag="sql"):
    """An expression or a query."""

    definition: str


class LambdaDefinition(msgspec.Struct, frozen=True, tag_field="type", tag="lambda"):
    """Program text."""

    definition: str
    language: str


Definition: TypeAlias = FileDefinition | SqlDefinition | LambdaDefinition


@hides_secrets
@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """What a function is; its name is the catalog's."""

    input_params: tuple[DataField, ...]
    return_params: tuple[DataField, ...]
    is_deterministic: bool = True
    """Whether it gives the same for the same."""
    definitions: Mapping[str, Definition] = field(default_factory=dict)
    """By the names of engines: ``spark``, ``flink``."""
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> bytes:
        """Encode as a JSON document, without the name of the function."""
        document: dict[str, Any] = {
            "inputParams": fields_to_json(self.input_params),
            "returnParams": fields_to_json(self.return_params),
            "deterministic": self.is_deterministic,
            "definitions": dict(self.definitions),
        }
        if self.comment is not None:
            document["comment"] = self.comment
        return msgspec.json.encode(document | {"options": dict(self.options)})

    @classmethod
    def from_json(cls, data: bytes, *, name: str) -> Self:
        """Decode a document; unknown keys are ignored.

        Raises
        ------
        CorruptMetadataError
            If it does not follow the format. ``name`` is only for the message.
        UnsupportedError
            If a parameter has a type that paimonlab does not have.
        """
        try:
            document = msgspec.json.decode(data, type=ready(_Document))
            return cls(
                input_params=fields_from_json(document.input_params),
                return_params=fields_from_json(document.return_params),
                is_deterministic=document.deterministic,
                definitions=document.definitions,
                comment=document.comment,
                options=document.options,
            )
        except (msgspec.MsgspecError, SchemaError) as error:
            raise CorruptMetadataError(name, f"not the definition of a function: {error}") from None


@hides_secrets
class _Document(msgspec.Struct, rename="camel"):
    input_params: list[dict[str, Any]]
    return_params: list[dict[str, Any]]
    deterministic: bool
    definitions: dict[str, Definition]
    options: dict[str, str]
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class AddDefinition:
    """Define the function for one more engine."""

    engine: str
    definition: Definition


@dataclass(frozen=True, slots=True)
class UpdateDefinition:
    """Define the function in another way for an engine that has a definition."""

    engine: str
    definition: Definition


@dataclass(frozen=True, slots=True)
class DropDefinition:
    """Remove the definition for an engine."""

    engine: str


FunctionChange: TypeAlias = (
    SetOption | RemoveOption | UpdateComment | AddDefinition | UpdateDefinition | DropDefinition
)


class _SetOption(msgspec.Struct, tag_field="action", tag="setOption"):
    key: str
    value: str


class _RemoveOption(msgspec.Struct, tag_field="action", tag="removeOption"):
    key: str


class _UpdateComment(msgspec.Struct, tag_field="action", tag="updateComment"):
    comment: str | None


class _AddDefinition(msgspec.Struct, tag_field="action", tag="addDefinition"):
    name: str
    definition: Definition


class _UpdateDefinition(msgspec.Struct, tag_field="action", tag="updateDefinition"):
    name: str
    definition: Definition


class _DropDefinition(msgspec.Struct, tag_field="action", tag="dropDefinition"):
    name: str


_Change: TypeAlias = (
    _SetOption
    | _RemoveOption
    | _UpdateComment
    | _AddDefinition
    | _UpdateDefinition
    | _DropDefinition
)


def change_from_json(text: str) -> FunctionChange:
    """Read a change as Java Paimon writes it.

    Raises
    ------
    SchemaError
        If the text is not one.

    Examples
    --------
    >>> change_from_json('{"action": "dropDefinition", "name": "spark"}')
    DropDefinition(engine='spark')
    """
    try:
        change: _Change = msgspec.json.decode(text, type=ready(_Change))
    except msgspec.MsgspecError as error:
        raise SchemaError(f"{text!r} is not a change of a function: {error}") from None
    match change:
        case _SetOption():
            return SetOption(change.key, change.value)
        case _RemoveOption():
            return RemoveOption(change.key)
        case _UpdateComment():
            return UpdateComment(change.comment)
        case _AddDefinition():
            return AddDefinition(change.name, change.definition)
        case _UpdateDefinition():
            return UpdateDefinition(change.name, change.definition)
        case _DropDefinition():
            return DropDefinition(change.name)


def changed_function(
    function: Function, changes: Iterable[FunctionChange], *, name: str
) -> Function:
    """Return a function with changes, applied in order.

    Raises
    ------
    AlreadyExistsError
        If a definition is added for an engine that has one.
    SchemaError
        If a definition is changed or dropped that does not exist.
    """
    for change in changes:
        function = _changed(function, change, name)
    return function


def _changed(function: Function, change: FunctionChange, name: str) -> Function:
    match change:
        case SetOption() | RemoveOption() | UpdateComment():
            return redescribed(function, change)
        case AddDefinition(engine, definition):
            if engine in function.definitions:
                raise AlreadyExistsError(f"definition for {engine} of function", name)
            return replace(function, definitions={**function.definitions, engine: definition})
        case UpdateDefinition(engine, definition):
            _check_definition(function, engine, name)
            return replace(function, definitions={**function.definitions, engine: definition})
        case DropDefinition(engine):
            _check_definition(function, engine, name)
            return replace(function, definitions=without(function.definitions, engine))


def _check_definition(function: Function, engine: str, name: str) -> None:
    if engine not in function.definitions:
        known = ", ".join(sorted(function.definitions)) or "none"
        raise SchemaError(f"{name}: no definition for {engine!r}; the function has {known}")
