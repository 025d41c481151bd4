"""What a template may cost: texts, numbers and loops that grow without end are refused.

Jinja's sandbox keeps a template from what is outside; it does not keep one from ``'x' * 10**10``,
``9**9**9`` or a loop in a loop.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

MOST_CHARACTERS = 1_000_000
"""Of a text, and items of a list, that a template makes; also rounds of all loops together."""
MOST_BITS = 4_096
"""Of a whole number that a template makes."""
MOST_WIDTH = 10_000
"""What a text is padded, indented or broken to."""

OPERATORS = frozenset({"+", "*", "**", "%"})
"""Those that make more than they were given."""
_PADDING = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs", "to_bytes"})
_FREE = frozenset({"default", "d", "select", "reject", "selectattr", "rejectattr", "map", "int"})
"""Filters whose arguments are values, not sizes."""
_WIDE = re.compile(r"\d{5,}|\*")
"""A width in a format, or one that comes with the values."""


class TooMuchError(Exception):
    """A template would make or do too much."""


def _refuse(what: str) -> TooMuchError:
    return TooMuchError(f"{what}, which is too much for a template: make it in Python")


def check_operator(operator: str, left: Any, right: Any) -> None:
    """Check what an operator would make.

    Raises
    ------
    TooMuchError
        If that is very large.
    """
    if operator == "%":
        if isinstance(left, str) and _WIDE.search(left):
            raise _refuse("a format with a wide field")
        return
    sizes = [len(one) for one in (left, right) if isinstance(one, str | bytes | list | tuple)]
    numbers = [one for one in (left, right) if isinstance(one, int)]
    if operator == "+" and len(sizes) == 2:
        _check_size(sum(sizes))
    elif operator == "*" and sizes and numbers:
        _check_size(sizes[0] * max(numbers[0], 0))
    elif operator == "*" and len(numbers) == 2:
        _check_bits(sum(number.bit_length() for number in numbers))
    elif operator == "**" and len(numbers) == 2:
        _check_bits(numbers[0].bit_length() * max(numbers[1], 0))


def _check_size(size: int) -> None:
    if size > MOST_CHARACTERS:
        raise _refuse(f"a text or list of {size:.3g} items")


def _check_bits(bits: int) -> None:
    if bits > MOST_BITS:
        raise _refuse("a number of very many digits")


def check_method(
    owner: Any, name: str, arguments: tuple[Any, ...], named: Mapping[str, Any]
) -> None:
    """Check what a method of a text, list or number would make.

    Raises
    ------
    TooMuchError
        If that is very large.
    """
    given = (*arguments, *named.values())
    if name in _PADDING:
        _check_widths(given)
    elif name == "replace" and isinstance(owner, str | bytes):
        _check_replaced(owner, given)
    elif name == "join":
        _check_joined(owner, given[0] if given else ())
    elif name in {"format", "format_map"} and isinstance(owner, str):
        if _WIDE.search(owner):
            raise _refuse("a format with a wide field")
        _check_widths(one for one in given if not isinstance(one, str))
    elif name == "translate":
        raise _refuse("a text that is translated")


def _check_widths(given: Iterable[Any]) -> None:
    for one in given:
        if isinstance(one, int) and one > MOST_WIDTH:
            raise _refuse(f"a text {one:.3g} wide" if one < 1e300 else "a very wide text")
        if isinstance(one, str | bytes | list | tuple):
            _check_size(len(one))


def _check_replaced(text: str | bytes, given: tuple[Any, ...]) -> None:
    new = given[1] if len(given) > 1 and isinstance(given[1], str | bytes) else ""
    _check_size((len(text) + 1) * max(len(new), 1))


def _check_joined(separator: Any, items: Any) -> None:
    if isinstance(separator, str | bytes) and isinstance(items, list | tuple | str):
        long = sum(len(one) for one in items if isinstance(one, str | bytes))
        _check_size(len(separator) * len(items) + long)


def bounded_filter(name: str, filter_: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that refuses to make very much."""

    @functools.wraps(filter_)
    def bounded(*arguments: Any, **named: Any) -> Any:
        given = (*arguments, *named.values())
        texts = [one for one in given if isinstance(one, str | bytes)]
        if name == "replace" and texts:
            _check_replaced(texts[0], tuple(texts[1:]))
        elif name == "join":
            values = [one for one in given if isinstance(one, list | tuple)]
            _check_joined(texts[0] if texts else "", values[0] if values else "")
        elif name == "format" and any(isinstance(one, str) and _WIDE.search(one) for one in texts):
            raise _refuse("a format with a wide field")
        elif name not in _FREE:
            _check_widths(given)
        return filter_(*arguments, **named)

    return bounded


def joined(parts: list[Any]) -> str:
    """Join what ``~`` stands between.

    Raises
    ------
    TooMuchError
        If that is very long.
    """
    texts = [str(part) for part in parts]
    _check_size(sum(map(len, texts)))
    return "".join(texts)


class Rounds:
    """Counts the rounds of all loops of a template."""

    def __init__(self) -> None:
        self._left = MOST_CHARACTERS

    def counted(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the items of a loop.

        Raises
        ------
        TooMuchError
            If all loops together have run too often.
        """
        for item in items:
            self._left -= 1
            if self._left < 0:
                raise _refuse(f"more than {MOST_CHARACTERS:,} rounds of loops")
            yield item
