"""A value together with everything that shows it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
import pyarrow as pa
from msgspec.structs import replace

from paimonlab.notebook import kernel
from paimonlab.notebook.display import html, page, plain
from paimonlab.notebook.display.grid import Grid
from paimonlab.notebook.display.written_files import save_page
from paimonlab.notebook.kernel.selection import Selection, Selections, selections

if TYPE_CHECKING:
    from paimonlab.notebook.kernel.widget import ViewWidget

StructT = TypeVar("StructT", bound=msgspec.Struct)
Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Answers requests of the interactive form while the kernel runs."""

MIME = "application/vnd.paimonlab.view.v1+json"
PLOTLY_TYPE = "application/vnd.plotly.v1+json"

_LARGEST_SAFE = 2**53
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Drawn(Generic[StructT]):
    """A view that was drawn: the value, a grid of it, and in HTML a picture above the grid.

    A value whose Struct has a tag also has an interactive form: the tag names the folder of
    ``views`` whose ``module.js`` draws it.
    """

    value: StructT
    grid: Grid
    rows: pa.Table | Callable[[], pa.Table]
    """The rows of the grid with their own types, or what makes them."""
    picture: str = ""
    """HTML."""
    legend: Sequence[str] = ()
    """Lines under the grid, in every form."""
    others: Sequence[Grid] = ()
    """More tables, under the first."""
    static: str = ""
    """HTML instead of the picture and the tables, where those would say less."""
    markdown: str = ""
    """Instead of the tables in Markdown, where those would say less."""
    text: str = ""
    """Instead of all else in text, where that would say less."""
    link: str = ""
    """Views with the same link follow each other's selections: the table's name."""
    answer: Answer | None = None
    """Answers the interactive form; None if that never asks."""
    id: str = field(default_factory=lambda: f"view-{next(_numbers)}")
    """Names this view in its kernel."""

    def __post_init__(self) -> None:
        if self.answer is not None:
            selections().answer(self.id, self.answer)

    @property
    def kind(self) -> str | None:
        """The module that draws the value in a browser; None: it has a static form only."""
        tag = type(self.value).__struct_config__.tag if _is_struct(self.value) else None
        return tag if isinstance(tag, str) else None

    @property
    def selection(self) -> Selection:
        """What was last chosen in the interactive form; empty if nothing was."""
        return self._selections.of(self.id)

    @property
    def _selections(self) -> Selections:
        return selections()

    def to_arrow(self) -> pa.Table:
        """Return the rows as Arrow."""
        return self.all_rows

    @property
    def all_rows(self) -> pa.Table:
        """The rows of the grid, whatever was chosen in the interactive form."""
        return self.rows if isinstance(self.rows, pa.Table) else self.rows()

    def to_markdown(self) -> str:
        """Return a Markdown table, or several."""
        tables = (plain.markdown(grid.without_drawings()) for grid in self._grids)
        return self.markdown or "\n".join(tables)

    def to_html(self) -> str:
        """Return HTML without scripts and styles that a sanitiser would remove."""
        legend = "".join(map(html.paragraph, self.legend))
        if self.static:
            return self.static + legend
        # What happened is said before the picture.
        head = html.head(self.grid) if self.picture else ""
        first = replace(self.grid, caption="", headline="") if self.picture else self.grid
        grids = (first, *self.others)
        tables = "".join(html.table(grid.without_drawings()) for grid in grids)
        return head + self.picture + tables + legend

    def to_text(self) -> str:
        """Return aligned text."""
        return self.text or "\n".join((*map(plain.text, self._grids), *self.legend))

    def data(self) -> dict[str, Any]:
        """Return what the interactive form draws, as JSON; whole numbers beyond 2^53 as text.

        Raises
        ------
        TypeError
            If the view has a static form only.
        """
        if self.kind is None:
            raise TypeError(f"{type(self.value).__name__} has a static form only")
        view = _safe(msgspec.to_builtins(self.value, str_keys=True))
        return {"kind": self.kind, "v": 1, "id": self.id, "link": self.link, "view": view}

    def widget(self) -> ViewWidget:
        """Return the view as a widget: ``selected`` and ``range`` can be observed from Python."""
        return kernel.widget.ViewWidget(self)

    def save(self, path: str | Path) -> Path:
        """Write the view as one HTML page that needs no kernel and no network.

        Parameters
        ----------
        path
            Where to write; an existing page is replaced.

        Raises
        ------
        UnsupportedError
            If something else exists there.
        """
        data = None if self.kind is None else self.data()
        return save_page(Path(path), page.page(self.grid.caption, self.to_html(), data))

    @property
    def _grids(self) -> tuple[Grid, ...]:
        return (self.grid, *self.others)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/html": self.to_html(), "text/plain": self.to_text()}
        return bundle if self.kind is None else {MIME: self.data(), **bundle}


def _is_struct(value: object) -> bool:
    return isinstance(value, msgspec.Struct)


def _safe(value: Any) -> Any:
    """Write whole numbers that a browser would round as text."""
    if isinstance(value, dict):
        return {name: _safe(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_safe(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST_SAFE:
        return str(value)
    return value
