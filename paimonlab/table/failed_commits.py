"""What becomes of files whose commit did not happen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from paimonlab.errors import CommitError, CommitOutcomeUnknownError
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.table.parts import TableParts
from paimonlab.write.folders import delete_files


@contextmanager
def files_deleted_on_failure(
    parts: TableParts, messages: Sequence[CommitMessage]
) -> Iterator[None]:
    """Delete the files of a commit if it definitely did not happen."""
    try:
        yield
    except CommitOutcomeUnknownError:
        raise
    except CommitError:
        delete_files(messages, parts.write_plan(), parts.file_io)
        raise
