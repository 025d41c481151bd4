"""Files to delete: where they are, how large, what they were, and why nothing needs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from paimonlab.spec.plurals import many

FileSort: TypeAlias = Literal[
    "data",
    "changelog",
    "index",
    "manifest",
    "manifest list",
    "index manifest",
    "statistics",
    "temporary",
]


@dataclass(frozen=True, slots=True)
class UnneededFile:
    """One file to delete."""

    path: str
    """Absolute."""
    sort: FileSort
    size_bytes: int | None
    """None: metadata does not say."""
    reason: str


@dataclass(frozen=True, slots=True)
class UnneededFiles:
    """The files that an operation deletes, or would delete, in that order."""

    files: tuple[UnneededFile, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[UnneededFile]:
        return iter(self.files)

    @property
    def paths(self) -> tuple[str, ...]:
        """Absolute paths."""
        return tuple(file.path for file in self.files)

    @property
    def size_bytes(self) -> int:
        """Bytes of those whose size is known."""
        return sum(file.size_bytes or 0 for file in self.files)

    def counts(self) -> Mapping[str, int]:
        """How many files of each kind there are."""
        return Counter(file.sort for file in self.files)

    def __str__(self) -> str:
        """Describe how many files of each kind there are."""
        if not self.files:
            return "no files"
        sorts = ", ".join(f"{count:,} {sort}" for sort, count in self.counts().items())
        return f"{many(len(self.files), 'file')} ({sorts}), {many(self.size_bytes, 'byte')}"


class Candidates:
    """Files to delete unless something else needs them, by path."""

    def __init__(self) -> None:
        self.by_path: dict[str, UnneededFile] = {}

    def add(self, path: str, sort: FileSort, size_bytes: int | None, reason: str) -> None:
        """Add a file; of one that was added before the first reason counts."""
        if path not in self.by_path:
            self.by_path[path] = UnneededFile(path, sort, size_bytes, reason)

    def drop(self, paths: Iterable[str]) -> None:
        """Remove files."""
        for path in paths:
            self.by_path.pop(path, None)

    @property
    def data_names(self) -> frozenset[str]:
        """Names of the data and changelog files."""
        return frozenset(
            path.rpartition("/")[2]
            for path, file in self.by_path.items()
            if file.sort in ("data", "changelog")
        )

    def files(self) -> UnneededFiles:
        """Return what is deleted: data first, then what refers to it."""
        order = ("data", "changelog", "index", "statistics", "manifest")
        rank = {sort: number for number, sort in enumerate(order)}
        ordered = sorted(
            self.by_path.values(), key=lambda file: (rank.get(file.sort, 9), file.path)
        )
        return UnneededFiles(tuple(ordered))
