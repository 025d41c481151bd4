"""Slices: the options that one layer obeys, as typed fields.

They are structs, for dozens of them are defined while the package is imported, and a dataclass
costs that import twenty times as much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from paimonlab.spec.options.grammar import PARSERS, Kind


class OptionField(NamedTuple):
    """Where the value of a slice's field comes from."""

    key: str
    """The option. With a ``*`` it is a family of them, and the value a dict."""
    read: Callable[[str], Any]
    """Makes the value of the option's text; raises ValueError."""
    default: Any


def option_field(
    key: str, kind: Kind, default: Any, *, parse: Callable[[Any], Any] | None = None
) -> Any:
    """Declare a field of a slice that is read from an option.

    Parameters
    ----------
    key
        Key of the option. With a ``*`` the field becomes a dict from the names that stand for
        it to the values.
    kind
        How the value is written: durations become milliseconds, sizes bytes.
    default
        Value without the option; a duration or a size may be given as text.
    parse
        Applied to the value read, not to the default.

    Examples
    --------
    >>> class Example(OptionSlice):
    ...     wait_millis: int = option_field("commit.min-retry-wait", "duration", "10 ms")
    ...     modes: dict[str, str] = option_field("fields.*.stats-mode", "string", {})
    >>> Example(modes={"a": "full"})
    Example(wait_millis=10, modes={'a': 'full'})
    """

    def read(text: str) -> Any:
        value = PARSERS[kind](text)
        return value if parse is None else parse(value)

    if isinstance(default, str) and kind in ("duration", "memory"):
        default = PARSERS[kind](default)
    return OptionField(key, read, default)


class _SliceMeta(msgspec.StructMeta):
    """Makes fields of a struct of those that `option_field` declares."""

    def __new__(  # noqa: PYI034 - Self has no meaning in a metaclass
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]
    ) -> _SliceMeta:
        declared = {
            field: value for field, value in namespace.items() if isinstance(value, OptionField)
        }
        defaults = {field: value.default for field, value in declared.items()}
        namespace |= defaults | {"_of_options": declared}
        return super().__new__(cls, name, bases, namespace, frozen=True, kw_only=True)


class OptionSlice(msgspec.Struct, metaclass=_SliceMeta):
    """The options that one layer obeys: a frozen value, made by `Options.slice` or by name."""


def fields_of(cls: type[OptionSlice]) -> Mapping[str, OptionField]:
    """Return what a slice reads, by name of the field."""
    declared: Mapping[str, OptionField] = cls._of_options  # type: ignore[attr-defined]
    return declared
