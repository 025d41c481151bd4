"""The process that reads and changes tables for the panel: a request a line, answers as lines.

``python -m paimonlab.server.worker ROOT`` reads ``{"ask": …, "with": {…}}`` and writes
``{"reply": …}`` or ``{"error": …, "status": …}``, and ``{"progress": [done, total, unit]}`` before
it. It ends when its input does.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, TextIO

import msgspec

from paimonlab.errors import NotFoundError, PaimonError
from paimonlab.secrets import without_secrets
from paimonlab.server import actions, details, explorers, tree
from paimonlab.server.actions import StalePlanError
from paimonlab.server.warehouses import OutsideError, warehouses

ERROR_CHARACTERS = 2_000
_PROGRESS_SECONDS = 0.2
Asked = Callable[..., Any]


class Given(msgspec.Struct, forbid_unknown_fields=True):
    """What questions and actions may be given, and of which types."""

    path: Annotated[list[str], msgspec.Meta(min_length=1)] | msgspec.UnsetType = msgspec.UNSET
    added: list[str] = []
    keys: list[str] = []
    offset: int = 0
    limit: int = 1
    text: str = ""
    kind: str = ""
    at: str | None = None
    action: str = ""
    values: dict[str, str] = {}
    state: str = ""


QUESTIONS: Mapping[str, Asked] = {
    "warehouses": lambda root, added=(): {"warehouses": warehouses(root, tuple(added))},
    "children": tree.children,
    "details": details.details,
    "state": details.state,
    "search": details.search,
    "explorer": explorers.explorer,
    "plan": actions.plan,
}
"""What only reads."""


def answer(root: Path, request: bytes | str, write: Callable[[Mapping[str, Any]], None]) -> None:
    """Answer one request: whatever goes wrong is written, never raised.

    Parameters
    ----------
    root
        The folder that the panel may look into.
    request
        A line of JSON.
    write
        Is given what to send.
    """
    try:
        asked = msgspec.json.decode(request)
        name, values = asked["ask"], asked.get("with", {})
        msgspec.convert(values, Given)
        if name == "do":
            reply = {"said": actions.do(root, **values, progress=_reporter(write))}
        elif name in QUESTIONS:
            reply = QUESTIONS[name](root, **values)
        else:
            raise NotFoundError(f"there is no question {name}")  # noqa: TRY301
    except Exception as error:  # noqa: BLE001 - sent to the one who asked
        message = without_secrets(str(error) or type(error).__name__)[:ERROR_CHARACTERS]
        write({"error": message, "status": status_of(error)})
    else:
        write({"reply": msgspec.to_builtins(reply)})


def status_of(error: Exception) -> int:
    """Return HTTP's number for an error."""
    if isinstance(error, OutsideError):
        return 403
    if isinstance(error, NotFoundError):
        return 404
    if isinstance(error, StalePlanError):
        return 409
    return 400 if isinstance(error, (PaimonError, ValueError, TypeError, KeyError)) else 500


def serve(root: Path, requests: Iterable[str], output: TextIO) -> None:
    """Answer requests until there are no more."""

    def write(message: Mapping[str, Any]) -> None:
        output.write(msgspec.json.encode(message).decode() + "\n")
        output.flush()

    for request in requests:
        answer(root, request, write)


def _reporter(write: Callable[[Mapping[str, Any]], None]) -> Callable[[int, int, str], None]:
    last = 0.0

    def report(done: int, total: int, unit: str) -> None:
        nonlocal last
        now = time.monotonic()
        if done == total or now - last >= _PROGRESS_SECONDS:
            last = now
            write({"progress": [done, total, unit]})

    return report


if __name__ == "__main__":
    # Whatever is printed meanwhile must not end up between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(Path(sys.argv[1]), sys.stdin, answers)
