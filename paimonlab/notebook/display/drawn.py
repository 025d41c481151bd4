"""A value together with its HTML and its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec
import pyarrow as pa

from paimonlab.notebook.display import html, plain
from paimonlab.notebook.display.grid import Grid

StructT = TypeVar("StructT", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True, repr=False)
class Drawn(Generic[StructT]):
    """A view that was drawn: the value, a grid of it, and in HTML a picture above the grid."""

    value: StructT
    grid: Grid
    rows: pa.Table
    """The rows of the grid with their own types."""
    picture: str = ""
    """HTML."""
    legend: Sequence[str] = ()
    """Lines under the grid, in every form."""

    def to_arrow(self) -> pa.Table:
        """Return the rows as Arrow."""
        return self.rows

    def to_markdown(self) -> str:
        """Return a Markdown table."""
        return plain.markdown(self.grid.without_drawings())

    def to_html(self) -> str:
        """Return HTML without scripts and styles that a sanitiser would remove."""
        return (
            self.picture
            + html.table(self.grid.without_drawings())
            + "".join(map(html.paragraph, self.legend))
        )

    def to_text(self) -> str:
        """Return aligned text."""
        return "\n".join((plain.text(self.grid), *self.legend))

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, Any]:
        return {"text/html": self.to_html(), "text/plain": self.to_text()}
