"""The connections of JVM threads that called Python, closed once the threads have ended.

py4j opens a socket for each thread of the JVM that calls Python, and a thread of Python answers at
it. It keeps both after the thread of the JVM has ended: its own cleaner does nothing in PySpark's
kind of gateway. Only the thread that a connection was opened for uses it, so none with a call
under way is closed, also if that call has led to others in the meantime (py4j counts it as idle
then).

Source: py4j 0.10.9.9 ``PythonClient.getConnection``, ``setupCleaner``, ``ClientServerConnection``.
"""

from __future__ import annotations

import threading
from typing import Any

from paimonlab.spark.jvm.java_names import names_of

_NEW_THREADS = 64
"""After so many new threads those that have ended are looked for."""


class CallingThreads:
    """The threads of one JVM that called Python, each with its connection.

    Parameters
    ----------
    gateway
        py4j's gateway, with its callback server running.
    """

    def __init__(self, gateway: Any) -> None:
        self._python_client = gateway._gateway_client
        self._java_client = gateway.java_gateway_server.getCallbackClient()
        self._java_thread = names_of(gateway).java.lang.Thread
        self._this_thread = threading.local()
        self._known: list[tuple[Any, Any]] = []
        self._new = 0
        self._lock = threading.Lock()

    def note(self) -> None:
        """Remember the thread of the JVM that waits for this callback; close what others left."""
        if hasattr(self._this_thread, "noted"):
            return
        self._this_thread.noted = True
        connection = self._python_client.get_thread_connection()
        if connection is None or connection.initiated_from_client:
            return  # py4j closes what a thread of Python opened when that thread ends
        caller = (self._java_thread.currentThread(), self._java_client.getPerThreadConnection())
        with self._lock:
            self._known.append(caller)
            self._new += 1
            if self._new < _NEW_THREADS:
                return
            self._new = 0
            looked_at, self._known = self._known, []
        alive = [caller for caller in looked_at if not self._closed(*caller)]
        with self._lock:
            self._known += alive

    def _closed(self, thread: Any, connection: Any) -> bool:
        """Close the connection of a thread that has ended; its thread of Python ends as well."""
        if thread.isAlive():
            return False
        self._java_client.connectionStopped(connection)  # no longer keeps it for later calls
        connection.shutdown()
        return True
