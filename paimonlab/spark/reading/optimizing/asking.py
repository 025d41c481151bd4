"""What Spark's optimizer asks about tables: sizes of partitions, files for a limit, counts of rows.

A rule looks at what is left of a query before Spark orders its joins. Where a filter is on
partition columns, the scan gets the files of those partitions, so that their size decides what is
broadcast; where one is on ids of rows, it gets the files that may have them (`row_ids`); a limit
without other conditions leaves as few files as have enough rows, and one of ordered rows those
that may have one of the first (`topmost`); a count of rows is a value; and what is asked of
partition columns alone, or counts rows by them, is answered by a row of each partition. So is what
asks for the least and greatest values of columns only, by the statistics of files in which every
row counts. What ANALYZE found out about columns (`known_columns`) decides in Spark how many rows
come of filters and joins, where its settings ask for that. The rule is a Java class (`choosing`),
which asks Python only where there is something to win.
"""

from __future__ import annotations

from typing import Any

from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.rules import same_rule
from paimonlab.spark.reading.file_index import SnapshotFileIndex
from paimonlab.spark.reading.masks import MASK_COLUMN
from paimonlab.spark.reading.optimizing.choosing import RULE, SOURCE
from paimonlab.spark.reading.optimizing.extremes import extremes
from paimonlab.spark.reading.optimizing.known_columns import known_columns
from paimonlab.spark.reading.optimizing.row_ids import with_row_ids
from paimonlab.spark.reading.optimizing.topmost import Order, with_the_first
from paimonlab.spark.reading.pinned import read_of
from paimonlab.spark.reading.scan import Choice


def optimize_reads(bridge: Bridge) -> None:
    """Let the optimizer of the session, its clones and those beside it ask about tables of ours."""
    extensions = bridge.session.extensions()
    present = extensions.buildPreCBORules(bridge.session)
    if any(RULE in present.apply(place).ruleName() for place in range(present.size())):
        return
    rule = new(bridge, SOURCE, RULE, _Answers(bridge), MASK_COLUMN)
    extensions.injectPreCBORule(same_rule(bridge, rule))


class _Answers(Proxy):
    """Answers the rule about one scan."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function4"]  # noqa: RUF012

    def apply(self, what: str, code: int, filters: Any, limit: int) -> Any:  # noqa: PLR0911
        """Return the rows of a scan, or an index of the files that are enough; None: of all."""
        index = read_of(code)
        assert isinstance(index, SnapshotFileIndex), "the rule asks about scans of files"
        if what == "count":
            return index._row_count(filters)
        if what.startswith("groups"):
            if index._of_files:
                return None
            return index._groups(filters, [int(place) for place in what.split()[1:]])
        if what.startswith("extremes"):
            return extremes(index, filters, what.split("\0")[1:])
        if what == "columns":
            return known_columns(index)
        if what == "row ids":
            return with_row_ids(index, filters)
        if what.startswith("top"):
            _, name, direction, nulls = what.split("\0")
            order = Order(name, is_rising=direction == "ASC", nulls_first=nulls == "NULLS FIRST")
            return with_the_first(index, filters, order, limit)
        return index._narrowed(filters, Choice(limit=None if limit < 0 else limit))
