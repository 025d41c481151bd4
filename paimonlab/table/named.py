"""What has names and can be asked for them: ``"v1" in table.tags``, ``len(table.branches)``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator

from paimonlab.errors.habits import IsAttribute


class Named(IsAttribute, ABC):
    """Things of a table, by their names."""

    @abstractmethod
    def list(self) -> Collection[str]:
        """Return all names, sorted, or what has them as keys."""

    def __iter__(self) -> Iterator[str]:
        return iter(self.list())

    def __contains__(self, name: object) -> bool:
        return name in self.list()

    def __len__(self) -> int:
        return len(self.list())

    def __bool__(self) -> bool:
        return True  # it is there, whatever it holds

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(self) or 'none'}>"
