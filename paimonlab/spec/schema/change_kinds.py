"""The kinds of changes of a table's schema; a dotted name means a field inside a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from paimonlab.errors import habits
from paimonlab.secrets import hides_secrets
from paimonlab.spec.options.given import OptionValue
from paimonlab.spec.schema.definition import GivenType


@dataclass(frozen=True, slots=True)
class AddColumn:
    """Add a column; old rows have null there."""

    name: str
    """A dotted path adds a field to a ROW."""
    type: GivenType
    """Paimon's text, or a type of Arrow or Python, as in `Schema`."""
    comment: str | None = None
    first: bool = False
    after: str | None = None
    """Name of the field beside it; without place the column comes last."""


AddColumn.__init__ = habits.arguments(habits.NEW_COLUMN, called="AddColumn")(  # type: ignore[method-assign]
    AddColumn.__init__
)


@dataclass(frozen=True, slots=True)
class DropColumn:
    """Drop a column; its values are no longer read."""

    name: str


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """Give a column another name; options that name it follow."""

    name: str
    new_name: str
    """The last part only, also for a nested field."""


@dataclass(frozen=True, slots=True)
class UpdateColumnType:
    """Change the type of a column; old values are cast when they are read."""

    name: str
    type: GivenType
    """As in `AddColumn`. ``NOT NULL`` makes it so; else the column stays as nullable as it is."""


@dataclass(frozen=True, slots=True)
class UpdateColumnNullability:
    """Allow nulls in a column, or no longer."""

    name: str
    nullable: bool


@dataclass(frozen=True, slots=True)
class UpdateColumnComment:
    """Describe a column."""

    name: str
    comment: str | None


@dataclass(frozen=True, slots=True)
class UpdateColumnDefault:
    """Set what missing values become when rows are written; rows already there stay."""

    name: str
    default: str | None


@dataclass(frozen=True, slots=True)
class MoveColumn:
    """Move a column to the front or after another one."""

    name: str
    first: bool = False
    after: str | None = None


@hides_secrets
@dataclass(frozen=True, slots=True)
class SetOption:
    """Set an option."""

    key: str
    value: OptionValue


@dataclass(frozen=True, slots=True)
class RemoveOption:
    """Return an option to its default."""

    key: str


@dataclass(frozen=True, slots=True)
class UpdateComment:
    """Describe the table."""

    comment: str | None


ColumnChange: TypeAlias = (
    AddColumn
    | DropColumn
    | RenameColumn
    | UpdateColumnType
    | UpdateColumnNullability
    | UpdateColumnComment
    | UpdateColumnDefault
    | MoveColumn
)
SchemaChange: TypeAlias = ColumnChange | SetOption | RemoveOption | UpdateComment
