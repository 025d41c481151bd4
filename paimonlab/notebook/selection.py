"""What is chosen in the views of this kernel, and the answers to what they ask.

The interactive form of an output tells it through a comm (a channel between a notebook and
its kernel) named `TARGET`; without one, in a page of its own or a notebook that is only read,
views still follow each other, but Python hears nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec

TARGET = "paimonlab"
ANSWERS_KEPT = 50
"""A view that answers may hold rows; the oldest is forgotten when there are more."""


class RowQuery(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True
):
    """How the table of a result is sorted, filtered and searched."""

    by: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """Column that the rows are sorted by; None: as they came."""
    descending: bool = False
    search: str = ""
    """A piece of text that any column has."""
    filters: tuple[tuple[Annotated[int, msgspec.Meta(ge=0)], str], ...] = ()
    """Columns and what was typed under their heads, as `paimonlab.notebook.row_query` reads it."""

    def __bool__(self) -> bool:
        return self != RowQuery()


class Selection(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True
):
    """What is chosen; what is None was not."""

    snapshot: int | None = None
    range: tuple[int, int] | None = None
    """First and last snapshot, both included."""
    partition: str | None = None
    bucket: int | None = None
    file: str | None = None
    rows: RowQuery | None = None

    def __bool__(self) -> bool:
        return self != Selection()


class Selections:
    """The selections and answers of one kernel."""

    def __init__(self) -> None:
        self._chosen: dict[str, Selection] = {}
        self._answers: dict[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {}

    def of(self, view_id: str) -> Selection:
        """Return what was last chosen in a view; empty if nothing was."""
        return self._chosen.get(view_id, Selection())

    def choose(self, view_id: str, chosen: Mapping[str, Any]) -> Selection:
        """Keep what was chosen in a view.

        Raises
        ------
        msgspec.ValidationError
            If that is no selection.
        """
        selection = msgspec.convert(dict(chosen), Selection)
        self._chosen[view_id] = selection
        return selection

    def answer(
        self, view_id: str, answer: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    ) -> None:
        """Let a view be asked, until `ANSWERS_KEPT` newer ones can be."""
        self._answers[view_id] = answer
        while len(self._answers) > ANSWERS_KEPT:
            del self._answers[next(iter(self._answers))]

    def ask(self, view_id: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask a view.

        Raises
        ------
        LookupError
            If this kernel did not make the view or has forgotten it, or it answers nothing.
        """
        if view_id not in self._answers:
            raise LookupError(
                "this kernel does not know the view: run the cell again to ask for more"
            )
        return self._answers[view_id](request)

    def hear(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Take a message of the interactive form; return what to send back, if anything.

        A selection is ``{"id", "selected"}``, a question ``{"id", "number", "request"}``; the
        reply is ``{"number", "reply"}`` or ``{"number", "error"}``.
        """
        view_id = str(message.get("id", ""))
        if "selected" in message:
            self.choose(view_id, message["selected"])
            return None
        try:
            reply = self.ask(view_id, message["request"])
        except Exception as error:  # noqa: BLE001 - told to the one who asked
            return {"number": message.get("number"), "error": str(error)}
        return {"number": message.get("number"), "reply": dict(reply)}


@functools.cache
def selections() -> Selections:
    """Return those of this process."""
    return Selections()


def register(comm_manager: Any) -> None:
    """Listen to the outputs of a kernel."""

    def opened(comm: Any, _message: Any) -> None:
        @comm.on_msg
        def heard(message: Mapping[str, Any]) -> None:
            reply = selections().hear(message["content"]["data"])
            if reply is not None:
                comm.send(reply)

    comm_manager.register_target(TARGET, opened)
