"""Values of the options of catalogs, read from text; errors name the option."""

from __future__ import annotations

from collections.abc import Mapping

from paimonlab.spec.options.grammar import (
    parse_boolean,
    parse_duration_millis,
    parse_memory_size_bytes,
)


def positive(given: Mapping[str, str], key: str) -> int:
    """Read a whole number of at least 1."""
    text = given[key]
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{key} = {text!r} is not a positive number")
    return int(text)


def millis(given: Mapping[str, str], key: str) -> int:
    """Read a duration, as in ``8 s``."""
    text = given[key]
    try:
        return parse_duration_millis(text)
    except ValueError as error:
        raise ValueError(f"{key} = {text!r}: {error}") from None


def boolean(given: Mapping[str, str], key: str) -> bool:
    """Read ``true`` or ``false``."""
    text = given[key]
    try:
        return parse_boolean(text)
    except ValueError as error:
        raise ValueError(f"{key} = {text!r}: {error}") from None


def size_bytes(given: Mapping[str, str], key: str) -> int:
    """Read a size in memory, as in ``64 mb``."""
    text = given[key]
    try:
        return parse_memory_size_bytes(text)
    except ValueError as error:
        raise ValueError(f"{key} = {text!r}: {error}") from None
