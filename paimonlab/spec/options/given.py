"""Options as users give them: values may be numbers and truth values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

OptionValue: TypeAlias = str | int | float | bool


def text_options(options: Mapping[str, OptionValue]) -> dict[str, str]:
    """Write options as tables keep them.

    Raises
    ------
    TypeError
        If a key is no text, or a value is neither text nor number nor truth value.

    Examples
    --------
    >>> text_options({"bucket": 4, "write-only": True})
    {'bucket': '4', 'write-only': 'true'}
    """
    return {key: option_text(key, value) for key, value in options.items()}


def option_text(key: object, value: object) -> str:
    """Write the value of an option as tables keep it."""
    if isinstance(key, str) and isinstance(value, str):
        return value
    if isinstance(key, str) and isinstance(value, bool | int | float):
        return str(value).lower()
    raise TypeError(
        f"option {key!r} = {value!r}: keys of options are text, values are text, numbers or "
        "truth values"
    )
