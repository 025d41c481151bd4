"""What a template may cost: texts, numbers and loops that grow without end are refused.

Jinja's sandbox keeps a template from what is outside; it does not keep one from ``'x' * 10**10``,
``9**9**9`` or a loop in a loop.
"""

from __future__ import annotations

import functools
import inspect
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from typing import Any, SupportsIndex

MOST_CHARACTERS = 1_000_000
"""Of a text, or items of a list, that a template makes; also rounds of all loops together."""
MOST_BITS = 4_096
"""Of an integer that a template makes."""
MOST_WIDTH = 10_000
"""Width that a text is padded or indented to; number of parts of a list."""
MOST_DIGITS = 100
"""Digits that a number is rounded to, before and after the point."""

OPERATORS = frozenset({"+", "*", "**", "%"})
"""Operators whose result may be much larger than their operands."""
_PADDING = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs", "to_bytes"})
_WIDTHS = {"center": "width", "batch": "linecount", "slice": "slices"}
"""The argument of a filter that says how much it makes."""
_GIVEN_BY_JINJA = frozenset({"environment", "env", "eval_ctx", "context"})
_FIELD = re.compile(r"[#0\- +]*(\*|\d*)(?:\.(\*|\d*))?[hlL]?[\s\S]?")
"""A field of a format after its ``%`` and name, with width and precision."""
_BRACKETS = re.compile(r"[()]")


class TooMuchError(Exception):
    """A template would make or do too much."""


def _refuse(what: str) -> TooMuchError:
    return TooMuchError(f"{what}, which is too much for a template: make it in Python")


def check_operator(sign: str, left: Any, right: Any) -> None:
    """Check what an operator would make.

    Raises
    ------
    TooMuchError
        If that is very large.
    """
    if sign == "%":
        if isinstance(left, str | bytes):
            _check_format(left if isinstance(left, str) else left.decode("latin-1"))
        return
    sizes = [
        len(operand) for operand in (left, right) if isinstance(operand, str | bytes | list | tuple)
    ]
    numbers = [operand for operand in (left, right) if isinstance(operand, int)]
    if sign == "+" and len(sizes) == 2:
        _check_size(sum(sizes))
    elif sign == "*" and sizes and numbers:
        _check_size(sizes[0] * max(numbers[0], 0))
    elif sign == "*" and len(numbers) == 2:
        _check_bits(sum(number.bit_length() for number in numbers))
    elif sign == "**" and len(numbers) == 2:
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
    elif name == "translate":
        raise _refuse("a text that is translated")


def _check_widths(given: Iterable[Any]) -> None:
    for argument in given:
        if isinstance(argument, SupportsIndex) and (width := operator.index(argument)) > MOST_WIDTH:
            raise _refuse(f"a text {width:.3g} wide" if width < 1e300 else "a very wide text")
        if isinstance(argument, str | bytes | list | tuple):
            _check_size(len(argument))


def _check_format(text: str) -> None:
    """Refuse fields that are wide, or come with the values, of a format for ``%``."""
    length, position = len(text), text.find("%") + 1
    while position:
        if text.startswith("(", position):
            position = _after_brackets(text, position)
        field = _FIELD.match(text, position)
        assert field is not None
        for size in filter(None, field.groups()):
            if size == "*" or len(size) > len(str(MOST_WIDTH)) or int(size) > MOST_WIDTH:
                raise _refuse("a format with a wide field")
            length += int(size)
        position = text.find("%", field.end()) + 1
    _check_size(length)


def _after_brackets(text: str, start: int) -> int:
    depth = 0
    for bracket in _BRACKETS.finditer(text, start):
        depth += 1 if bracket[0] == "(" else -1
        if not depth:
            return bracket.end()
    return len(text)


def _check_replaced(text: str | bytes, given: tuple[Any, ...]) -> None:
    new = given[1] if len(given) > 1 and isinstance(given[1], str | bytes) else ""
    _check_size((len(text) + 1) * max(len(new), 1))


def _check_joined(separator: Any, items: Any) -> None:
    if isinstance(separator, str | bytes) and isinstance(items, list | tuple | str):
        long = sum(len(item) for item in items if isinstance(item, str | bytes))
        _check_size(len(separator) * len(items) + long)


def bounded_filter(name: str, filter_: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that refuses to make very much; its input may be large."""
    check = _CHECKS.get(name)
    if check is None:
        return filter_
    # Jinja gives the environment first to some, also where their signatures do not say so.
    leading = 1 if hasattr(filter_, "jinja_pass_arg") else 0
    full_signature = inspect.signature(filter_)
    own = [
        parameter
        for parameter in full_signature.parameters.values()
        if parameter.name not in _GIVEN_BY_JINJA
    ]
    signature = full_signature.replace(parameters=own)

    @functools.wraps(filter_)
    def bounded(*arguments: Any, **named: Any) -> Any:
        try:
            given = signature.bind(*arguments[leading:], **named)
        except TypeError:
            return filter_(*arguments, **named)  # says itself what is wrong
        given.apply_defaults()
        check(given.arguments)
        return filter_(*arguments[:leading], *given.args, **given.kwargs)

    return bounded


def _check_width(width: str) -> Callable[[dict[str, Any]], None]:
    return lambda given: _check_widths([given[width]])


def _check_indent(given: dict[str, Any]) -> None:
    width = given["width"]
    _check_widths([width])
    lines = str(given["s"]).count("\n") + 1
    _check_size(lines * (len(width) if isinstance(width, str) else int(width)))


def _check_wrapped(given: dict[str, Any]) -> None:
    text, between = str(given["s"]), given["wrapstring"]
    if isinstance(between, str):
        # Two lines in a row are longer than one may be.
        most = 2 * len(text) // max(int(given["width"]), 1) + len(text.splitlines())
        _check_size(most * len(between))


def _check_json(given: dict[str, Any]) -> None:
    value, indent = given["value"], given["indent"]
    _check_widths([indent])
    if isinstance(value, Sized) and isinstance(indent, int):
        _check_size(len(value) * indent)


def _check_rounded(given: dict[str, Any]) -> None:
    digits = given["precision"]
    if isinstance(digits, SupportsIndex) and abs(operator.index(digits)) > MOST_DIGITS:
        raise _refuse(f"a number rounded to more than {MOST_DIGITS} digits")


def _check_join(given: dict[str, Any]) -> None:
    if not isinstance(given["value"], str | list | tuple):
        given["value"] = list(given["value"])
    _check_joined(given["d"], given["value"])


_CHECKS: Mapping[str, Callable[[dict[str, Any]], None]] = {
    **{name: _check_width(argument) for name, argument in _WIDTHS.items()},
    "indent": _check_indent,
    "wordwrap": _check_wrapped,
    "tojson": _check_json,
    "round": _check_rounded,
    "format": lambda given: _check_format(str(given["value"])),
    "replace": lambda given: _check_replaced(str(given["s"]), (given["old"], given["new"])),
    "join": _check_join,
}
"""The filters that can make much more than they are given."""


def joined(parts: list[Any]) -> str:
    """Join what ``~`` concatenates.

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
