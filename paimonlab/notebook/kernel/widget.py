"""A view as a widget: what is chosen in the browser is known in Python, and the other way round.

Only for two-way use. What a cell stores is a view, never a widget: reopened without its
kernel a widget shows nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import anywidget
import traitlets

from paimonlab.notebook.kernel import browser_modules
from paimonlab.notebook.kernel.selection import selections


class Shown(Protocol):
    """A view that a widget can show."""

    @property
    def id(self) -> str:
        """Names the view in its kernel."""

    @property
    def kind(self) -> str | None:
        """Names what is shown."""

    @property
    def answer(self) -> object:
        """Answers the interactive form; None if that never asks."""

    def data(self) -> dict[str, Any]:
        """Return what the interactive form draws."""

    def to_html(self) -> str:
        """Return the static form."""

    def to_text(self) -> str:
        """Return the form for a terminal."""


class ViewWidget(anywidget.AnyWidget):
    """The interactive form of a view; observe ``selected`` or ``range``.

    Parameters
    ----------
    view
        What is shown.
    """

    data = traitlets.Dict(read_only=True).tag(sync=True)
    selected = traitlets.Dict().tag(sync=True)
    """What was chosen last, as `paimonlab.notebook.kernel.selection.Selection` has it."""
    range = traitlets.List(traitlets.Int(), allow_none=True, default_value=None).tag(sync=True)
    """First and last snapshot of the range that was brushed."""
    can_answer = traitlets.Bool(read_only=True).tag(sync=True)

    def __init__(self, view: Shown) -> None:
        data = view.data()
        super().__init__(_esm=browser_modules.widget_module(data["kind"]))
        self._view = view
        self.set_trait("data", data)
        self.set_trait("can_answer", view.answer is not None)
        self.on_msg(self._heard)
        self.observe(self._chose, names="selected")

    def _heard(self, _widget: Any, message: Any, _buffers: Any) -> None:
        is_map = isinstance(message, Mapping)
        reply = selections().hear({**message, "id": self._view.id} if is_map else message)
        if reply is not None:
            self.send(reply)

    def _chose(self, change: Any) -> None:
        selections().hear({"id": self._view.id, "selected": change["new"]})

    def __repr__(self) -> str:
        return f"ViewWidget({self._view.kind})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Add the static form for viewers that run no JavaScript."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            bundle[0]["text/html"] = self._view.to_html()
            bundle[0]["text/plain"] = self._view.to_text()
        return bundle
