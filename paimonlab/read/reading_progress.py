"""How many files of a read are done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from threading import Lock
from typing import NamedTuple, TypeAlias

import pyarrow as pa

from paimonlab.progress import Progress

"""Is told what is done, of how much, and the unit: ``progress(3, 10, "files")``."""
Source: TypeAlias = Callable[[], Iterable[pa.RecordBatch]]


class FileSource(NamedTuple):
    """Rows of files, or of a part of one."""

    read: Source
    file_count: float
    """How many files they are; below 1: a share of one."""
    is_small: bool = False
    """Whether one thread reads it as fast as several would, with others of its kind."""


def told(sources: Sequence[FileSource], file_count: int, progress: Progress | None) -> list[Source]:
    """Return sources that report how many files are done whenever one of them ends.

    Parameters
    ----------
    sources
        What is read.
    file_count
        Files that were planned; those that no source reads are done from the start.
    progress
        Called in the thread that read the source, one call at a time; None: no reports.
    """
    if progress is None:
        return [source.read for source in sources]
    lock = Lock()
    done = file_count - sum(source.file_count for source in sources)

    def telling(source: FileSource) -> Iterator[pa.RecordBatch]:
        nonlocal done
        yield from source.read()
        with lock:
            done += source.file_count
            # Shares such as thirds do not add up to a whole number exactly.
            progress(int(done + 1e-6), file_count, "files")

    return [partial(telling, source) for source in sources]
