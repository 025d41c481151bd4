"""Statistics files, which snapshots name.

Source: apache/paimon@1.3.1 ``org.apache.paimon.stats.StatsFileHandler``.
"""

from __future__ import annotations

import logging
import uuid

from paimonlab.errors import CorruptMetadataError
from paimonlab.metadata.layout import TableLayout
from paimonlab.spec.statistics.table import Statistics
from paimonlab.storage import FileIO

logger = logging.getLogger(__name__)


class StatisticsStore:
    """Reads and writes the statistics of a table."""

    def __init__(self, file_io: FileIO, layout: TableLayout) -> None:
        self._file_io = file_io
        self._layout = layout

    def read(self, name: str, *, referrer: str = "") -> Statistics:
        """Read statistics.

        Parameters
        ----------
        name
            As the snapshot has it.
        referrer
            The snapshot, for the message.

        Raises
        ------
        CorruptMetadataError
            If they are missing or damaged.
        """
        path = self._layout.statistics(name, referrer)
        try:
            data = self._file_io.read(path)
        except FileNotFoundError as error:
            raise CorruptMetadataError(path, "the file is missing", referrer) from error
        return Statistics.from_json(data, path=path, referrer=referrer)

    def write(self, statistics: Statistics) -> str:
        """Write statistics durably under a new name; return the name."""
        name = f"stat-{uuid.uuid4()}-0"
        try:
            self._file_io.write(self._layout.statistics(name), statistics.to_json())
        except FileExistsError:  # whoever made it keeps it
            raise
        except BaseException:
            self.delete(name)
            raise
        return name

    def delete(self, name: str) -> None:
        """Delete statistics that no snapshot names; a failure is only logged."""
        try:
            self._file_io.delete(self._layout.statistics(name))
        except OSError as error:  # it is junk, but does no harm
            logger.warning("left behind statistics/%s: %s", name, error)
