"""A cell: from text to statements and their parameters, and what is wrong with it.

Not named ``sql``, as that is a function of the notebook.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.notebook.cell import spark_errors as spark_errors
    from paimonlab.notebook.cell import templates as templates
    from paimonlab.notebook.cell import time_travel as time_travel

__getattr__, __dir__ = attributes_on_use(__name__, "spark_errors", "templates", "time_travel")
