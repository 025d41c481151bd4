from __future__ import annotations

import errno
from pathlib import Path

import pytest

from paimonlab.errors import StorageError
from paimonlab.metadata.take_back import take_back
from tests.small_tables import UNSYNCED


def test_a_file_stays_when_it_cannot_be_told_whether_it_may_go(tmp_path: Path) -> None:
    (tmp_path / "snapshot-5").write_bytes(b"ours")

    def fail() -> bool:
        raise StorageError(errno.EMFILE, "Too many open files", "somewhere")

    with pytest.raises(StorageError):
        take_back(UNSYNCED, str(tmp_path / "snapshot-5"), lambda _: True, may_go=fail)

    assert [path.name for path in tmp_path.iterdir()] == ["snapshot-5"]
