"""What is chosen in the views of this kernel, and the answers to what they ask.

The interactive form of an output sends it through a comm (a channel between a notebook and
its kernel) named `TARGET`; without one, in a page of its own or a notebook that is only read,
views still follow each other, but Python gets nothing.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec

from paimonlab.secrets import without_secrets

logger = logging.getLogger(__name__)

TARGET = "paimonlab"
ANSWERS_KEPT = 50
"""A view that answers may keep rows in memory; the oldest is forgotten when there are more."""
SELECTIONS_KEPT = 1_000
"""Likewise for selections: a message may name views that do not exist."""
ID_CHARACTERS = 100
ERROR_CHARACTERS = 1_000
TEXT_CHARACTERS = 100_000
"""Of a name or a filter that is chosen."""
Text = Annotated[str, msgspec.Meta(max_length=TEXT_CHARACTERS)]


class RowQuery(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True
):
    """How the table of a result is sorted, filtered and searched."""

    by: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """Column that the rows are sorted by; None: not sorted."""
    descending: bool = False
    search: Text = ""
    """Text that some column contains."""
    filters: Annotated[
        tuple[tuple[Annotated[int, msgspec.Meta(ge=0)], Text], ...], msgspec.Meta(max_length=1_000)
    ] = ()
    """Columns and what was typed under their heads, as `results.row_query` reads it."""

    def __bool__(self) -> bool:
        return self != RowQuery()


class Selection(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True
):
    """What is chosen; what is None was not."""

    snapshot: int | None = None
    range: tuple[int, int] | None = None
    """First and last snapshot, both included."""
    partition: Text | None = None
    bucket: int | None = None
    file: Text | None = None
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
            If that is not a selection.
        """
        selection = msgspec.convert(dict(chosen), Selection)
        self._chosen.pop(view_id, None)
        self._chosen[view_id] = selection
        while len(self._chosen) > SELECTIONS_KEPT:
            del self._chosen[next(iter(self._chosen))]
        return selection

    def answer(
        self, view_id: str, answer: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    ) -> None:
        """Let a view answer requests, until there are `ANSWERS_KEPT` newer ones."""
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

    def hear(self, message: Any) -> dict[str, Any] | None:
        """Take a message of the interactive form; return what to send back, if anything.

        A selection is ``{"id", "selected"}``, a question ``{"id", "number", "request"}``; the
        reply is ``{"number", "reply"}`` or ``{"number", "error"}``. Anybody may send anything:
        anything else gets an error, and nothing is ever raised.
        """
        if not isinstance(message, Mapping):
            return {"number": None, "error": "a message is a map"}
        given = message.get("number")
        number = given if type(given) is int else None
        try:
            view_id = message["id"]
            if not isinstance(view_id, str) or len(view_id) > ID_CHARACTERS:
                raise TypeError("the id of a view is a short text")  # noqa: TRY301
            if "selected" in message:
                self.choose(view_id, message["selected"])
                return None
            reply = self.ask(view_id, message["request"])
        except Exception as error:  # noqa: BLE001 - sent to the one who asked
            logger.debug("a message of a view was refused: %s", type(error).__name__)
            return {"number": number, "error": without_secrets(str(error))[:ERROR_CHARACTERS]}
        return {"number": number, "reply": dict(reply)}


@functools.cache
def selections() -> Selections:
    """Return those of this process."""
    return Selections()


def register(comm_manager: Any) -> None:
    """Listen to the outputs of a kernel."""

    def opened(comm: Any, _message: Any) -> None:
        @comm.on_msg
        def heard(message: Mapping[str, Any]) -> None:
            reply = selections().hear(message.get("content", {}).get("data"))
            if reply is not None:
                comm.send(reply)

    comm_manager.register_target(TARGET, opened)
