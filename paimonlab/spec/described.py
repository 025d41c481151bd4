"""What views and functions have in common: a comment, options, and one text for each engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, replace
from typing import Any, ClassVar, Protocol, TypeVar

from paimonlab.spec.options.given import option_text
from paimonlab.spec.schema.change_kinds import RemoveOption, SetOption, UpdateComment

Value = TypeVar("Value")


class Described(Protocol):
    """A dataclass with a comment and options."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def comment(self) -> str | None:
        """What people say of it."""
        ...

    @property
    def options(self) -> Mapping[str, str]:
        """Options by their keys."""
        ...


Kept = TypeVar("Kept", bound=Described)


def redescribed(kept: Kept, change: SetOption | RemoveOption | UpdateComment) -> Kept:
    """Return a view or a function with another comment or other options."""
    match change:
        case SetOption(key, value):
            return replace(kept, options={**kept.options, key: option_text(key, value)})
        case RemoveOption(key):
            return replace(kept, options=without(kept.options, key))
        case UpdateComment(comment):
            return replace(kept, comment=comment)


def without(items: Mapping[str, Value], key: str) -> dict[str, Value]:
    """Return the items but one."""
    return {name: value for name, value in items.items() if name != key}
