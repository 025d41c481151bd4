"""What Spark's messages say of its own inside, which nobody wrote and nobody can use."""

from __future__ import annotations

import re

_INSIDE = re.compile(
    r"(?<![\w`.])(?:`?spark_catalog`?\.)?`?global_temp`?\.`?paimonlab_\w+`?(\.)?"
    r"|\[_LEGACY_ERROR_TEMP_\w+\]\s*"
)
"""What a table is called inside of Spark, and numbers of errors that have no name."""
_PLAN = re.compile(r";\n['!+\w].*", re.DOTALL)
"""The tree that Spark writes below what it could not analyze."""
_SIGNS = ("paimonlab_", "_LEGACY_ERROR_TEMP_", "ResolvedTable ")


def shown_names(text: str) -> str:
    """Leave out what a table is called inside of Spark, which nobody wrote.

    Examples
    --------
    >>> shown_names("`global_temp`.`paimonlab_1`.`id` is unknown")
    '`id` is unknown'
    """

    def left(found: re.Match[str]) -> str:
        is_table = "paimonlab_" in found[0] and not found[1]
        return "the table" if is_table else ""

    return _INSIDE.sub(left, text)


def as_written(text: str) -> str:
    r"""Leave out the plan of a message, and what tables are called in it, where it has our views.

    Examples
    --------
    >>> as_written("`x` is unknown; line 1 pos 7;\n'Project\n+- View (`global_temp`.`paimonlab_5`)")
    '`x` is unknown; line 1 pos 7'
    >>> as_written("`x` is unknown; line 1 pos 7;\n'Project\n+- Range")
    "`x` is unknown; line 1 pos 7;\n'Project\n+- Range"
    """
    if not any(sign in text for sign in _SIGNS):
        return text
    return shown_names(_PLAN.sub("", text))
