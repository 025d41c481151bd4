"""Values as literals of Spark SQL, whatever is in them."""

from __future__ import annotations

import math
import re

import numpy as np

# A quote or a backslash ends or changes a literal; Spark puts variables in for ${name} before
# it parses; and no reader sees what is invisible.
_SPECIAL = re.compile(
    r"['\\]|\$(?=\{)|[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)


def text(value: str) -> str:
    r"""Write a text.

    Examples
    --------
    >>> print(text("it's \\ ${x}"))
    'it\'s \\ \u0024{x}'
    """
    return f"'{_SPECIAL.sub(_escape, value)}'"


def floating(value: float, type_name: str) -> str:
    """Write a floating-point number of type FLOAT or DOUBLE."""
    with np.errstate(over="ignore"):
        number = np.float32(value) if type_name == "FLOAT" else value
    if math.isfinite(number):
        shortest = str(number)
    else:
        shortest = "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    return f"CAST('{shortest}' AS {type_name})"


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return f"\\{character}" if character in "'\\" else f"\\u{ord(character):04x}"
