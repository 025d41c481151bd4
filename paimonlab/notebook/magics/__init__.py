"""IPython magics: parse the line, call one command, return what it returns.

A magic has at most four options; what needs a fifth is a function for users to call.
"""

from __future__ import annotations

from paimonlab.notebook.magics.compaction import CompactionMagics
from paimonlab.notebook.magics.connecting import ConnectionMagics
from paimonlab.notebook.magics.ingesting import IngestMagics
from paimonlab.notebook.magics.rows import RowMagics
from paimonlab.notebook.magics.snapshots import SnapshotMagics
from paimonlab.notebook.magics.sql import SqlMagics
from paimonlab.notebook.magics.start import StartMagics
from paimonlab.notebook.magics.streams import StreamMagics
from paimonlab.notebook.magics.table_files import FileMagics
from paimonlab.notebook.magics.upkeep import UpkeepMagics
from paimonlab.notebook.magics.watching import WatchMagics

ALL = (
    ConnectionMagics,
    SqlMagics,
    StreamMagics,
    IngestMagics,
    StartMagics,
    SnapshotMagics,
    FileMagics,
    CompactionMagics,
    UpkeepMagics,
    RowMagics,
    WatchMagics,
)
"""What ``%load_ext paimonlab`` registers."""
