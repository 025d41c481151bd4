"""One of several processes that commit to one table. Arguments: table, its own name, commits.

Waits until the file ``go`` is in the table's folder, so that all start together.
"""

from __future__ import annotations

import sys
import time
import uuid
from pathlib import Path

from paimonlab.storage import LocalFileIO
from tests.small_tables import SmallTable


def main(path: Path, name: str, commits: int) -> None:
    """Commit and print the snapshot id of every acknowledged commit."""
    table = SmallTable(path, file_io=LocalFileIO())
    committer = table.committer
    while not (path / "go").exists():
        time.sleep(0.001)
    for number in range(commits):
        snapshot = committer.append(
            [table.message(f"{name}-{number}", total_buckets=1)],
            user=str(uuid.uuid4()),
            identifier=1,
            is_new_user=True,
        )
        assert snapshot is not None
        print(snapshot.id)  # noqa: T201 - the acknowledgement


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
