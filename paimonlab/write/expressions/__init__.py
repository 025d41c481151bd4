"""SQL expressions over the columns of rows, evaluated as whole columns.

Answers what new value an update gives a column. The meaning is Spark's with ANSI mode on: three
truth values, decimals that widen, an error where a number overflows or a text is not a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.write.expressions import conditions as conditions
    from paimonlab.write.expressions import sql as sql

__getattr__, __dir__ = attributes_on_use(__name__, "conditions", "sql")
