"""What is wrong with a catalog that does not answer as it should, as one line of advice.

What is looked for are words of our own errors, of the operating system's, of PyMySQL's and
libpq's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paimonlab.errors import AccessDeniedError, CatalogDatabaseError, CatalogServerError

_WHAT = {"jdbc": "the database", "hive": "the metastore", "rest": "the server"}
_SILENT = "something takes connections there and says nothing: is it the port of {what}?"
_NO_TLS = ("no TLS", "WRONG_VERSION_NUMBER", "wrong version number")
_EVERYWHERE: Sequence[tuple[Sequence[str], str]] = (
    (
        ("Name or service not known", "failed to resolve", "nodename nor servname"),
        "no host is called so: correct the host in uri",
    ),
    (
        ("Connection refused", "actively refused"),
        "nothing listens there: start {what}, or correct host and port in uri",
    ),
)
_OF_KIND: Mapping[str, Sequence[tuple[Sequence[str], str]]] = {
    "jdbc": (
        (
            ("Access denied for user", "password authentication failed", "no password supplied"),
            "check jdbc.user and jdbc.password",
        ),
        (
            ("Unknown database", "does not exist"),
            "create the database, or correct its name in uri",
        ),
        (
            ("unable to open database file",),
            "create the folder of the file in uri; this user has to be able to write in it",
        ),
        (("timed out", "timeout expired"), _SILENT),
        (("SSL", "TLS"), "compare the parameters of uri about TLS with what the database wants"),
    ),
    "hive": (
        (_NO_TLS, "it has no TLS: leave hive.metastore.use.SSL out, or correct the port"),
        (("certificate",), "set hive.metastore.truststore.path to the certificates to trust"),
        (
            ("timed out", "no answer"),
            f"{_SILENT} Compare hive.metastore.use.SSL and hive.metastore.client.auth.mode",
        ),
    ),
    "rest": (
        (_NO_TLS, "it has no TLS: write http:// in uri, or correct the port"),
        (("certificate",), "let this machine trust the certificate of {what}"),
        (("timed out", "no answer"), _SILENT),
        (("",), "is it a server of Paimon's REST protocol? Compare uri, warehouse and prefix"),
    ),
}


def advice(options: Mapping[str, str], error: Exception) -> str:
    """Say what to change so that a catalog answers.

    Parameters
    ----------
    options
        Of the catalog.
    error
        What using it raised.

    Returns
    -------
    str
        A sentence that names options, never values that are secret; "": nothing is known, or it is
        not the catalog that fails.
    """
    if isinstance(error, AccessDeniedError):
        return _of_rights(options, str(error))
    if not isinstance(error, CatalogDatabaseError | CatalogServerError):
        return ""
    kind, problem = options.get("metastore", ""), str(error)
    for words, told in (*_EVERYWHERE, *_OF_KIND.get(kind, ())):
        if any(word in problem for word in words):
            return told.format(what=_WHAT.get(kind, "the catalog"))
    return ""


def _of_rights(options: Mapping[str, str], problem: str) -> str:
    if "clock" in problem:
        return "set the clock of this machine: signatures have a time"
    if options.get("token.provider") == "dlf":
        return "compare dlf.access-key-id, dlf.access-key-secret and dlf.region with the server's"
    return "check the token, and what its user may do on the server"
