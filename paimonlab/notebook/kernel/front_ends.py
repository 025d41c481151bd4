"""The front ends of this kernel that have our extension: what they are sent, and what they ask.

Both sides know one comm (a channel between a notebook and its kernel) by its name, and neither
opens it: a message reaches every window, and is dropped where nobody listens. A front end says
that it listens; it is known by the session in each of its messages, so that a cell can be shown
to the one that runs it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec

from paimonlab.notebook.kernel.selection import ID_CHARACTERS, selections

logger = logging.getLogger(__name__)

COMM = "paimonlab-plugin"
LISTENING_KEPT = 1_000
"""Sessions that are remembered: a message may name any."""
CODE_CHARACTERS = 1_000_000
"""Of a cell in which names are completed."""
Complete = Callable[[str, int], Mapping[str, Any]]
"""Called with a cell and the cursor, in characters; returns ``start``, ``end`` and ``items``."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """What a front end sends."""

    listens: bool | None = None
    """Whether it shows progress from now on."""
    complete: Cursor | None = None
    """A question: what can be typed at a cursor?"""
    stop: Annotated[str, msgspec.Meta(max_length=ID_CHARACTERS)] | None = None
    """The view of a watch that is to end, also while its cell keeps the kernel busy."""


class Cursor(msgspec.Struct, frozen=True):
    """A place in a cell."""

    code: Annotated[str, msgspec.Meta(max_length=CODE_CHARACTERS)]
    offset: Annotated[int, msgspec.Meta(ge=0)]
    """Characters before it."""


class FrontEnds:
    """The front ends of one kernel; also the comm itself, as a comm manager wants it.

    Parameters
    ----------
    kernel
        That of ipykernel.
    complete
        Answers what can be typed at a cursor. Called in whatever thread gets the question:
        a front end asks in a subshell, so that it need not wait for the cell that runs.
    """

    comm_id = COMM
    target_name = COMM

    def __init__(self, kernel: Any, complete: Complete) -> None:
        self._kernel = kernel
        self._complete = complete
        self._listening: set[str] = set()
        self._is_shown_idle = False

    @property
    def is_listening(self) -> bool:
        """Whether the front end that runs the present cell shows progress."""
        header = self._parent.get("header") or {}
        return header.get("session") in self._listening

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send all front ends a message about the current cell.

        Its id is added, which front ends send with the cell; None if they do not.
        """
        parent = self._parent
        cell = (parent.get("metadata") or {}).get("cellId")
        self._send("comm_msg", self._content({**message, "cell": cell}), parent)
        if self._is_shown_idle:  # the answer to a question in a subshell ended in "idle"
            self._is_shown_idle = False
            self._send("status", {"execution_state": "busy"}, parent)

    def handle_msg(self, message: Mapping[str, Any]) -> None:
        """Take a message of a front end; anything else is dropped, and nothing is raised."""
        try:
            data = msgspec.convert(message["content"]["data"], Message)
            session = msgspec.convert(message["header"]["session"], str)
            self._take(data, session, message)
        except Exception as error:  # noqa: BLE001 - would be a traceback in the kernel's log
            logger.debug("a message of a front end was refused: %s", type(error).__name__)

    def _take(self, data: Message, session: str, message: Mapping[str, Any]) -> None:
        if data.listens and len(self._listening) < LISTENING_KEPT:
            self._listening.add(session)
        elif data.listens is False:
            self._listening.discard(session)
        if data.complete is not None:
            completions = self._complete(data.complete.code, data.complete.offset)
            self._send("comm_msg", self._content({"kind": "completions", **completions}), message)
        if data.stop is not None:
            selections().ask(data.stop, {"stop": True})
        if data.complete is not None or data.stop is not None:
            is_main = threading.current_thread() is threading.main_thread()
            self._is_shown_idle = self._is_shown_idle or not is_main

    def handle_close(self, _message: Mapping[str, Any]) -> None:
        """Forget who listened."""
        self._listening.clear()

    @property
    def _parent(self) -> Mapping[str, Any]:
        return self._kernel.get_parent() or {}

    def _content(self, data: Mapping[str, Any]) -> dict[str, Any]:
        return {"comm_id": COMM, "data": dict(data)}

    def _send(self, kind: str, content: dict[str, Any], parent: Mapping[str, Any]) -> None:
        kernel = self._kernel
        topic = f"comm-{COMM}" if kind == "comm_msg" else f"kernel.{kernel.ident}.{kind}"
        kernel.session.send(
            kernel.iopub_socket, kind, content, parent=dict(parent), ident=topic.encode()
        )


_current: FrontEnds | None = None


def current() -> FrontEnds | None:
    """Return those of this process; None if it is not a kernel, or has not loaded us."""
    return _current


def register(kernel: Any, complete: Complete) -> None:
    """Listen to the front ends of a kernel, and let them know; a second call changes nothing."""
    global _current  # noqa: PLW0603 - one kernel a process
    if _current is None:
        _current = FrontEnds(kernel, complete)
        kernel.comm_manager.register_comm(_current)
    _current.tell({"kind": "here"})
