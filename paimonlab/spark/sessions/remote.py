"""Sessions of a Spark Connect server: Spark runs elsewhere, and SQL goes there over gRPC."""

from __future__ import annotations

import re
from importlib.util import find_spec
from threading import Thread
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from paimonlab.errors import PaimonError, UnsupportedError
from paimonlab.interrupts import interrupts_held_back
from paimonlab.secrets import without_secrets
from paimonlab.spark.sessions.noise import quiet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VARIABLE = "SPARK_REMOTE"
"""Environment variable in which Spark's clients look for the address of a server."""
CATALOG_KEY = "spark.paimonlab.catalog"
"""Setting by which `paimonlab.spark.serve` tells clients the name of its Paimon catalog."""
ANSWER_SECONDS = 10.0
"""How long a server may take to answer at all."""
_TRIES = 5
"""How often a call is tried again when a server does not answer: for some 20 seconds."""
_LOST = ("StatusCode.UNAVAILABLE", "INVALID_HANDLE.SESSION_")
_DEFAULT_PORT = 15002
_NO_ADDRESS = (
    "the address of a Spark Connect server looks like sc://HOST:PORT/;key=value, "
    "and what was given does not"
)
_PACKAGES = ("grpc", "grpc_status", "google.rpc")


class RemoteError(PaimonError):
    """A Spark Connect server has no usable address, or does not answer."""


def is_remote(session: object) -> bool:
    """Return whether a session is a client of a Spark Connect server."""
    return type(session).__module__.startswith("pyspark.sql.connect.")


def has_lost_server(error: Exception) -> bool:
    """Return whether a client's error means that the server is gone or has lost the session."""
    text = str(error)
    return any(sign in text for sign in _LOST)


def address(url: str) -> str:
    """Return host and port of ``sc://host:port/;key=value``: all of it that may be shown.

    Raises
    ------
    RemoteError
        If it is not the address of a Spark Connect server; the message does not repeat it.

    Examples
    --------
    >>> address("sc://spark.example/;use_ssl=true;token=abc")
    'spark.example:15002'
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or _DEFAULT_PORT
    except ValueError:
        raise RemoteError(_NO_ADDRESS) from None
    if host is None or parts.scheme != "sc" or parts.username is not None:
        raise RemoteError(_NO_ADDRESS)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def open_session(url: str) -> SparkSession:
    """Open a session of its own on a Spark Connect server.

    Parameters
    ----------
    url
        As ``sc://host:15002/;token=…``, what Spark documents for its clients.

    Returns
    -------
    SparkSession
        A client's session: it has the methods of a classic one, but no JVM and no context.

    Raises
    ------
    UnsupportedError
        If packages are missing that Spark's client needs.
    RemoteError
        If the address is invalid, no server answers there, or the server refuses.
    """
    server = address(url)
    check_packages()
    from pyspark.errors import PySparkException  # noqa: PLC0415 - PySpark is optional
    from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415
    from pyspark.sql.connect.session import SparkSession as Client  # noqa: PLC0415

    quiet()
    _wait_for(url, server)
    session = Client.builder.remote(url).create()
    session.client.set_retry_policies([DefaultPolicy(max_retries=_TRIES)])
    try:
        session.version  # noqa: B018 - asks the server
    except PySparkException as error:
        said = f"the Spark Connect server at {server} refused: {_said(str(error))}"
        if "StatusCode.UNAUTHENTICATED" in str(error):
            said += "; whoever started it knows the address with the token: sc://…/;token=…"
        raise RemoteError(said) from error
    return cast("SparkSession", session)


def check_packages() -> None:
    """Check that what Spark's client needs is installed.

    Raises
    ------
    UnsupportedError
        If something is missing; says how to install it.
    """
    missing = [name for name in _PACKAGES if not _is_there(name)]
    if missing:
        raise UnsupportedError(
            f"Spark Connect without {', '.join(missing)}", "pip install 'paimonlab[connect]'"
        )


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that it is in
        return False


def _wait_for(url: str, place: str) -> None:
    """Fail soon if no server listens."""
    with interrupts_held_back():
        import grpc  # noqa: PLC0415 - an extra
    from pyspark.errors import PySparkException  # noqa: PLC0415
    from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415

    try:
        builder = DefaultChannelBuilder(url)
        channel = builder.toChannel()
    except PySparkException:
        raise RemoteError(
            f"the address of the Spark Connect server at {place} has a wrong parameter"
        ) from None  # PySpark's message has the whole address, with its token
    try:
        grpc.channel_ready_future(channel).result(timeout=ANSWER_SECONDS)
    except grpc.FutureTimeoutError:
        raise RemoteError(
            f"no Spark Connect server answers at {place} within {ANSWER_SECONDS:.0f} s"
            + _advice(place, is_encrypted=builder.secure)
        ) from None
    finally:
        channel.close()


def _said(text: str) -> str:
    """Return the server's message, without the text that the client's library adds."""
    details = re.search(r'details = "(.*)"', text)
    return without_secrets(details[1] if details else text).partition("\n")[0]


def _advice(place: str, *, is_encrypted: bool) -> str:
    """Explain that a server without TLS may be the problem."""
    host = place.rpartition(":")[0]
    if not is_encrypted or host not in {"127.0.0.1", "[::1]"}:
        return ""
    return f"; a token goes to {host} over TLS only: write localhost if the server has none"


def close_session(session: SparkSession) -> None:
    """Let the server forget a session; does not wait for a server that is gone."""
    Thread(target=session.stop, daemon=True).start()
