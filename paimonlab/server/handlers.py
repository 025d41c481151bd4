"""The panel's addresses: each needs to be logged in, and what changes something, no foreign page.

``GET paimonlab/ask?question=…&with=…`` reads; ``GET``, ``POST paimonlab/jobs`` list and begin jobs,
``DELETE paimonlab/jobs/N`` stops one. Jupyter Server checks the user, whether that user may read or
write, and for all but ``GET`` the XSRF token.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import tornado.web
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join

from paimonlab.server.processes import Jobs, Reader, RefusedError

MOST_CHARACTERS = 100_000
"""Of what is asked."""
_SLOW = frozenset({"explorer", "state", "search", "plan"})
"""What reads more than a few files has a process of its own, so that the tree need not wait."""
_QUESTIONS = frozenset({"warehouses", "children", "details", *_SLOW})
RESOURCE = "paimonlab"
"""What the server's authorizer is asked about."""


class State:
    """The processes of one server; they end when it does, as their input does.

    Parameters
    ----------
    root
        The folder that the server shows.
    """

    def __init__(self, root: Path) -> None:
        self.quick = Reader(root)
        self.slow = Reader(root)
        self.jobs = Jobs(root)


class _Handler(APIHandler):
    auth_resource = RESOURCE

    @property
    def state(self) -> State:
        """The processes of this server."""
        state: State = self.settings["paimonlab"]
        return state

    def refuse(self, error: RefusedError) -> None:
        """Say why there is no answer."""
        self.set_status(error.status)
        self.reply({"message": str(error)})

    def reply(self, value: Any) -> None:
        """Send a value as JSON."""
        self.set_header("Content-Type", "application/json")
        self.set_header("Cache-Control", "no-store")
        self.finish(msgspec.json.encode(value))


class AskHandler(_Handler):
    """Answers questions."""

    @tornado.web.authenticated
    @authorized
    async def get(self) -> None:
        """Answer one."""
        question, given = self.get_query_argument("question"), self.get_query_argument("with", "{}")
        try:
            if question not in _QUESTIONS:
                raise RefusedError(404, f"there is no question {question[:40]}")  # noqa: TRY301
            reader = self.state.slow if question in _SLOW else self.state.quick
            self.reply(await reader.ask(question, _object(given)))
        except RefusedError as error:
            self.refuse(error)


class JobsHandler(_Handler):
    """Lists jobs, and begins them."""

    @tornado.web.authenticated
    @authorized
    async def get(self) -> None:
        """List them."""
        self.reply({"jobs": self.state.jobs.list()})

    @tornado.web.authenticated
    @authorized
    async def post(self) -> None:
        """Begin one: ``{"label", "path", "action", "values", "state"}``."""
        try:
            values = _object(self.request.body.decode("utf-8", "replace"))
            label = str(values.pop("label", values.get("action", "")))[:200]
            self.reply(await self.state.jobs.begin(label, values))
        except RefusedError as error:
            self.refuse(error)


class JobHandler(_Handler):
    """Stops one job."""

    @tornado.web.authenticated
    @authorized
    async def delete(self, number: str) -> None:
        """Stop it."""
        try:
            self.state.jobs.stop(int(number))
            self.reply({})
        except RefusedError as error:
            self.refuse(error)


def add_to(app: Any) -> None:
    """Add the addresses to a server.

    Parameters
    ----------
    app
        A `jupyter_server.serverapp.ServerApp`.
    """
    web = app.web_app
    web.settings["paimonlab"] = State(Path(app.root_dir))
    base = url_path_join(web.settings["base_url"], "paimonlab")
    web.add_handlers(
        ".*$",
        [
            (url_path_join(base, "ask"), AskHandler),
            (url_path_join(base, "jobs"), JobsHandler),
            (url_path_join(base, r"jobs/(\d{1,9})"), JobHandler),
        ],
    )


def _object(text: str) -> dict[str, Any]:
    """Read an object of JSON.

    Raises
    ------
    RefusedError
        If it is anything else, or too long.
    """
    if len(text) > MOST_CHARACTERS:
        raise RefusedError(413, f"more than {MOST_CHARACTERS:,} characters")
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError:
        raise RefusedError(400, "what is asked must be an object of JSON") from None
