"""A view as a catalog keeps it: its columns, and its query in the dialects of engines.

Source: apache/paimon@1.3.1 ``org.apache.paimon.view.ViewSchema``, ``ViewImpl``, ``ViewChange``.
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


@hides_secrets
@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a view is; its name is the catalog's.

    Examples
    --------
    >>> View(fields=(), query="SELECT 1", dialects={"flink": "SELECT 2"}).query_in("flink")
    'SELECT 2'
    """

    fields: tuple[DataField, ...]
    """The columns, found in the query by position."""
    query: str
    """For engines that have no dialect of their own."""
    dialects: Mapping[str, str] = field(default_factory=dict)
    """The query by the names of engines: ``spark``, ``flink``."""
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def query_in(self, dialect: str) -> str:
        """Return the query that an engine runs."""
        return self.dialects.get(dialect, self.query)

    def to_json(self) -> bytes:
        """Encode as the JSON document that catalogs keep."""
        document: dict[str, Any] = {
            "fields": fields_to_json(self.fields),
            "query": self.query,
            "dialects": dict(self.dialects),
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
            If a column has a type that paimonlab does not have.
        """
        try:
            document = msgspec.json.decode(data, type=ready(_Document))
            fields = fields_from_json(document.fields)
        except (msgspec.MsgspecError, SchemaError) as error:
            raise CorruptMetadataError(name, f"not the definition of a view: {error}") from None
        return cls(
            fields=fields,
            query=document.query,
            dialects=document.dialects,
            comment=document.comment,
            options=document.options,
        )


@hides_secrets
class _Document(msgspec.Struct):
    fields: list[dict[str, Any]]
    query: str
    dialects: dict[str, str]
    options: dict[str, str]
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class AddDialect:
    """Say the view in the dialect of one more engine."""

    dialect: str
    query: str


@dataclass(frozen=True, slots=True)
class UpdateDialect:
    """Say the view in another way in a dialect that it has."""

    dialect: str
    query: str


@dataclass(frozen=True, slots=True)
class DropDialect:
    """Remove the view's text in one dialect."""

    dialect: str


ViewChange: TypeAlias = (
    SetOption | RemoveOption | UpdateComment | AddDialect | UpdateDialect | DropDialect
)


def changed_view(view: View, changes: Iterable[ViewChange], *, name: str) -> View:
    """Return a view with changes, applied in order.

    Raises
    ------
    AlreadyExistsError
        If a dialect is added that the view has.
    SchemaError
        If a dialect is changed or dropped that it does not have.
    """
    for change in changes:
        view = _changed(view, change, name)
    return view


def _changed(view: View, change: ViewChange, name: str) -> View:
    match change:
        case SetOption() | RemoveOption() | UpdateComment():
            return redescribed(view, change)
        case AddDialect(dialect, query):
            if dialect in view.dialects:
                raise AlreadyExistsError(f"dialect {dialect} of view", name)
            return replace(view, dialects={**view.dialects, dialect: query})
        case UpdateDialect(dialect, query):
            _check_dialect(view, dialect, name)
            return replace(view, dialects={**view.dialects, dialect: query})
        case DropDialect(dialect):
            _check_dialect(view, dialect, name)
            return replace(view, dialects=without(view.dialects, dialect))


def _check_dialect(view: View, dialect: str, name: str) -> None:
    if dialect not in view.dialects:
        known = ", ".join(sorted(view.dialects)) or "none"
        raise SchemaError(f"{name}: there is no dialect {dialect!r}; the view has {known}")
