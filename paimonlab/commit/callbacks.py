"""What is called after a commit.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.sink.CommitCallback``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

import pyarrow as pa

from paimonlab.spec.snapshot import Snapshot

TagCallback: TypeAlias = Callable[[str, int | None], None]
"""Called with the name of a tag and the id of its snapshot after it was created or moved, and with
None before it is deleted. A second call must change nothing."""


class CommitCallback(Protocol):
    """Called with every snapshot that a commit became, and again if the commit is repeated.

    A process may die between commit and call: repeat the commit to make sure of the call, and
    let a second call change nothing. What it raises becomes a `PostCommitError`.
    """

    def __call__(self, snapshot: Snapshot, changes: pa.Table, /) -> None:
        """Take note of a commit.

        Parameters
        ----------
        snapshot
            What the commit became.
        changes
            The manifest entries of the files it added and deleted
            (`paimonlab.spec.manifests.manifest.ENTRY_SCHEMA`).
        """
