"""What is asked of a system table, and what every answer can do."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
from msgspec import Struct

from paimonlab.secrets import hides_secrets
from paimonlab.table.reading.conditions import Where
from paimonlab.table.reading.time_travel import TravelPoint

if TYPE_CHECKING:
    import pandas as pd

    from paimonlab.table.table import Table


@hides_secrets
class ScanArguments(Struct, frozen=True, kw_only=True):
    """The arguments of `SystemTable.scan`, columns resolved."""

    columns: tuple[str, ...]
    where: Where | None
    limit: int | None
    snapshot: int | None
    tag: str | None
    timestamp: datetime | int | str | None
    watermark: int | None
    version: int | str | None
    options: Mapping[str, str]

    @property
    def point(self) -> TravelPoint:
        """The point in time."""
        return TravelPoint(
            snapshot=self.snapshot,
            tag=self.tag,
            timestamp=self.timestamp,
            watermark=self.watermark,
            version=self.version,
        )


class AboutTable(Protocol):
    """A system table, as those know it who read it."""

    @property
    def name(self) -> str:
        """The name, ``database.table$system``."""
        ...

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types of the columns."""
        ...

    @property
    def table(self) -> Table:
        """The table that it is about."""
        ...


class SystemRows(Protocol):
    """Rows of a system table; nothing is computed before it is asked for."""

    def to_arrow(self) -> pa.Table:
        """Compute all rows."""
        ...

    def to_batches(self) -> pa.RecordBatchReader:
        """Compute all rows as a stream."""
        ...

    def to_pandas(self) -> pd.DataFrame:
        """Compute all rows as a pandas frame."""
        ...

    def count(self) -> int:
        """Count the rows."""
        ...

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Stream the rows to anything that speaks Arrow."""
        ...
