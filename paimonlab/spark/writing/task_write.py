"""What writes have in common that Spark runs as tasks of its own, without a DataFrame of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge
from paimonlab.spark.jvm.metrics import Unmeasured
from paimonlab.spark.values.quoting import quoted
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.table.inside import definition_of

if TYPE_CHECKING:
    from paimonlab.table.table import Table

WITHOUT_BUCKETS = (BucketMode.BUCKET_UNAWARE, BucketMode.POSTPONE_MODE)
"""Any task may write any row of such a table."""


class TaskWrite(Unmeasured):
    """Asks Spark to bring the rows of a key into one task, and reports nothing."""

    def __init__(self, bridge: Bridge, table: Table) -> None:
        super().__init__(bridge)
        self._table = table

    def description(self) -> str:
        """Say what is written, for plans."""
        return f"Paimon({self._table.name})"

    def requiredDistribution(self) -> Any:
        """Ask for equal bucket keys of a partition in one task."""
        distributions = self._bridge.java_class(CONNECTOR + "distributions.Distributions")
        schema, mode = self._table.schema, definition_of(self._table).bucket_mode
        if mode in WITHOUT_BUCKETS:
            return distributions.unspecified()
        expressions = self._bridge.java_class(CONNECTOR + "expressions.Expressions")
        # Buckets that depend on other rows of the partition need them all in one task.
        keys = schema.bucket_keys if mode is BucketMode.HASH_FIXED else ()
        names = dict.fromkeys((*schema.partition_keys, *keys)) or schema.primary_keys
        columns = [expressions.column(quoted(name)) for name in names]
        return distributions.clustered(
            self._bridge.array(CONNECTOR + "expressions.Expression", columns)
        )

    def distributionStrictlyRequired(self) -> bool:
        """Say that it is: a key in two tasks would be two rows."""
        return True

    def advisoryPartitionSizeInBytes(self) -> int:
        """Leave the size of tasks to Spark."""
        return 0

    def requiredOrdering(self) -> Any:
        """Ask for no order: writers sort."""
        return self._bridge.array(CONNECTOR + "expressions.SortOrder", [])

    def useCommitCoordinator(self) -> bool:
        """Let Spark choose one attempt of each task."""
        return True
