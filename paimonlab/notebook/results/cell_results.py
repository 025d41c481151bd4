"""The rows of all statements of a cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from paimonlab.notebook.results.result import Result


class Results(Sequence[Result]):
    """The results of a cell, in the order of its statements; shown one below the other.

    Parameters
    ----------
    results
        One for each statement.
    """

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = tuple(results)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> Results: ...
    def __getitem__(self, index: int | slice) -> Result | Results:
        if isinstance(index, slice):
            return Results(self._results[index])
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self._results))

    def _ipython_display_(self) -> None:
        """Show each as it would be shown alone."""
        from IPython.display import display  # noqa: PLC0415 - IPython is optional

        for result in self._results:
            display(result)
