"""Named calls that keep tables in order: ``CALL sys.compact(table => 'db.t')``.

Answers which procedures there are, what they take and give, and does what they say by the verbs
of the catalog and of tables. Knows no SQL text and no Spark: arguments come as Python values.

Source of all names, types and results: apache/paimon@1.3.1
``org.apache.paimon.spark.SparkProcedures``, and the classes of the package ``procedure`` there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.procedures.binding import bind
    from paimonlab.procedures.procedure import Parameter, Procedure
    from paimonlab.procedures.registry import PROCEDURES, find
    from paimonlab.procedures.telling import told

__all__ = ["PROCEDURES", "Parameter", "Procedure", "bind", "find", "told"]

__getattr__, __dir__ = attributes_on_use(
    __name__,
    PROCEDURES="registry",
    Parameter="procedure",
    Procedure="procedure",
    bind="binding",
    find="registry",
    told="telling",
)
