"""What a completer knows about the connected catalog: recent enough, and without waiting.

A name is looked up in a thread; callers wait a moment at most. An answer that comes later is
used the next time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from paimonlab.errors import PaimonError
from paimonlab.notebook.completion.sql_completion import Names
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.connections.warehouse_connection import Connection
from paimonlab.spark.values.quoting import quoted
from paimonlab.table import system
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FRESH_SECONDS = 10.0
"""An older answer is looked up again."""
PATIENCE_SECONDS = 0.12
"""How long all questions of one completion wait together."""
_NEWEST = 50

T = TypeVar("T")


class Answers:
    """Answers that are kept for a while; slow ones come later instead of blocking."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[Hashable, tuple[float, Any]] = {}
        self._asked: dict[Hashable, Event] = {}

    def get(self, key: Hashable, ask: Callable[[], T], default: T, *, deadline: float) -> T:
        """Return an answer, an older one if a new one takes too long, else ``default``.

        Parameters
        ----------
        key
            Names the question.
        ask
            Looks the answer up; runs in a thread of its own. What it raises means ``default``.
        default
            The answer while nothing is known.
        deadline
            When to stop waiting, in seconds of `time.monotonic`.
        """
        with self._lock:
            known = self._known.get(key)
            if known is not None and time.monotonic() - known[0] < FRESH_SECONDS:
                answer: T = known[1]
                return answer
            answered = self._asked.get(key)
            if answered is None:
                answered = self._asked[key] = Event()
                Thread(target=self._look_up, args=(key, ask, default), daemon=True).start()
        answered.wait(max(deadline - time.monotonic(), 0))
        with self._lock:
            late: T = self._known.get(key, (0.0, default))[1]
            return late

    def _look_up(self, key: Hashable, ask: Callable[[], T], default: T) -> None:
        try:
            answer = ask()
        except (PaimonError, OSError, ValueError):
            answer = default  # a completer has nowhere to show an error
        except Exception:  # noqa: BLE001 - Spark's own errors, as when its session was stopped
            answer = default
        with self._lock:
            self._known[key] = (time.monotonic(), answer)
            self._asked.pop(key).set()


_answers = Answers()


def known_names(patience_seconds: float = PATIENCE_SECONDS) -> Names:
    """Return what is known about the connected catalog; nothing if there is none.

    Parameters
    ----------
    patience_seconds
        How long all questions together wait for an answer that is not known yet.
    """
    system_tables = {name: kind.help for name, kind in system.SYSTEM_TABLES.items()}
    if not connections.is_connected():  # to connect as configured could take long
        return Names(tuple, lambda _: None, lambda _: {}, system_tables, tuple)
    connection = connections.current()
    deadline = time.monotonic() + patience_seconds

    def ask(what: str, look_up: Callable[[], T], default: T) -> T:
        return _answers.get((id(connection), what), look_up, default, deadline=deadline)

    return Names(
        tables=lambda: ask("tables", connection.known_tables, ()),
        columns=lambda name: ask(f"columns {name}", lambda: _columns(connection, name), None),
        points=lambda name: ask(f"points {name}", lambda: _points(connection, name), {}),
        system_tables=system_tables,
        functions=lambda: ask("functions", lambda: _functions(connection), ()),
        tags=lambda name: ask(f"tags {name}", lambda: _tags(connection, name), {}),
        branches=lambda name: ask(f"branches {name}", lambda: _branches(connection, name), {}),
        catalog=connection.catalog_name,
    )


def _in_catalog(connection: Connection, name: str) -> str:
    parts = name.split(".")
    return ".".join(parts[1:]) if len(parts) == 3 and parts[0] == connection.catalog_name else name


def _columns(connection: Connection, name: str) -> pa.Schema | None:
    if connection.opened is None:
        return _server_columns(connection.session("columns"), name)
    return connection.opened.relation(_in_catalog(connection, name)).arrow_schema


def _server_columns(spark: SparkSession, name: str) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 - PySpark is optional

    return to_arrow_schema(spark.table(".".join(map(quoted, name.split(".")))).schema)


def _tags(connection: Connection, name: str) -> dict[str, str]:
    table = connection.catalog.relation(_in_catalog(connection, name))
    if not isinstance(table, Table):
        return {}
    return {tag: f"tag of snapshot {tagged.id}" for tag, tagged in table.tags.list().items()}


def _branches(connection: Connection, name: str) -> Mapping[str, str]:
    table = connection.catalog.relation(_in_catalog(connection, name))
    return dict.fromkeys(table.branches.list(), "branch") if isinstance(table, Table) else {}


def _points(connection: Connection, name: str) -> Mapping[str, str]:
    table = connection.catalog.relation(_in_catalog(connection, name))
    if not isinstance(table, Table):
        return {}
    tags = _tags(connection, name)
    newest = sorted(table.snapshots.list(), key=lambda snapshot: -snapshot.id)[:_NEWEST]
    return tags | {str(snapshot.id): snapshot.commit_kind.value.lower() for snapshot in newest}


def _functions(connection: Connection) -> Sequence[str]:
    if connection.spark is None:
        return ()
    rows = connection.spark.sql("SHOW SYSTEM FUNCTIONS").collect()
    return [row[0] for row in rows if str(row[0]).isidentifier()]
