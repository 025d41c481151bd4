"""What Spark's optimizer asks about tables: sizes of partitions, files for a limit, counts of rows.

A rule looks at what is left of a query before Spark orders its joins. Where a filter is on
partition columns, the scan gets the files of those partitions, so that their size decides what is
broadcast; a limit without other conditions leaves as few files as have enough rows; a count of
rows is a value; and what is asked of partition columns alone, or counts rows by them, is answered
by a row of each partition. So is what asks for the least and greatest values of columns only, by
the statistics of files in which every row counts. The rule is a Java class (`choosing`), which
asks Python only where there is something to win.
"""

from __future__ import annotations

from typing import Any

from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.rules import SameRule
from paimonlab.spark.reading.file_index import SnapshotFileIndex
from paimonlab.spark.reading.masks import MASK_COLUMN
from paimonlab.spark.reading.optimizing.choosing import RULE, SOURCE
from paimonlab.spark.reading.optimizing.extremes import extremes
from paimonlab.spark.reading.pinned import read_of


def optimize_reads(bridge: Bridge) -> None:
    """Let the optimizer of the session, its clones and those beside it ask about tables of ours."""
    extensions = bridge.session.extensions()
    present = extensions.buildPreCBORules(bridge.session)
    if any(RULE in present.apply(place).ruleName() for place in range(present.size())):
        return
    rule = new(bridge, SOURCE, RULE, _Answers(bridge), MASK_COLUMN)
    extensions.injectPreCBORule(SameRule(bridge, rule))


class _Answers(Proxy):
    """Answers the rule about one scan."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function4"]  # noqa: RUF012

    def apply(self, what: str, code: int, filters: Any, limit: int) -> Any:
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
        return index._narrowed(filters, None if limit < 0 else limit)
