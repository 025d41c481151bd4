"""What must not be shown: passwords, keys and tokens in options, URIs and texts.

Options of catalogs and tables reach views, logs and error messages; all of those go through
here. What looks like a secret is hidden even where it is none: a table has no use for the
names in `_WORDS` otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

HIDDEN = "******"
"""Stands where a secret was."""

_WORDS = (
    "secret",
    "passw",
    "passphrase",
    "token",
    "credential",
    "signature",
    r"access[._-]?key",
    r"account[._-]key",
    r"api[._-]?key",
    r"private[._-]?key",
    r"encryption[._-]key",
    r"sas[._-]key",
    r"authorization",
)
_SECRET = re.compile("|".join(_WORDS), re.IGNORECASE)
# A key, how it is tied to its value, and the value: 'a.secret' = 'x', a.secret=x, "token": "x".
# A word is only looked at from its begin: long ones would take the square of their length.
_PAIR = re.compile(
    r"""(?P<head>(?P<quote>['"`]?)(?<![\w.-])(?P<key>(?=[\w.-]*?(?:"""
    + "|".join(_WORDS)
    + r"""))[\w.-]++)(?P=quote)\s*(?:=>?|:)\s*)
    (?P<value>'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.|"")*"?
                |(?:(?:bearer|basic|token)[ ]+)?[^\s,;)}\]&]+)""",
    re.IGNORECASE | re.VERBOSE,
)
# Keys of S3 have slashes, which a URI should have escaped: user:pass/word@; host:8020/a@b has none.
_USER_INFO = re.compile(
    r"""((?<![\w+.-])[\w+.-]+://)
    (?:[^/?#\s'"@]*|[^/?#\s'"@:]{2,}:(?!\d*(?:[/?#]|$))(?:(?!://)[^\s'"@])*)@""",
    re.VERBOSE,
)
_URI = re.compile(r"([A-Za-z][\w+.-]*://)([^/?#]*)([^?#]*)")


def is_secret(key: str) -> bool:
    """Tell whether the value of an option must not be shown.

    Examples
    --------
    >>> is_secret("fs.s3a.secret.key"), is_secret("jdbc.password"), is_secret("primary-key")
    (True, True, False)
    """
    return _SECRET.search(key) is not None


def redacted(options: Mapping[str, str]) -> dict[str, str]:
    """Return options that may be shown: values of secret keys hidden, URIs without users.

    Examples
    --------
    >>> redacted({"bucket": "2", "fs.oss.accessKeySecret": "x", "uri": "jdbc://a:b@host/d"})
    {'bucket': '2', 'fs.oss.accessKeySecret': '******', 'uri': 'jdbc://host/d'}
    """
    return {
        key: HIDDEN if is_secret(key) else without_secrets(value) for key, value in options.items()
    }


def without_secrets(text: str) -> str:
    """Hide what a text tells of secrets: values tied to secret keys, users in URIs.

    Examples
    --------
    >>> without_secrets("WITH ('s3.secret-key' = 'abc', 'bucket' = '1')")
    "WITH ('s3.secret-key' = '******', 'bucket' = '1')"
    >>> without_secrets("no such bucket: s3://me:abc@lake/w")
    'no such bucket: s3://lake/w'
    """
    return _USER_INFO.sub(r"\1", _PAIR.sub(_hide, text))


def masked(text: str) -> str:
    """Hide secrets as `without_secrets` does, but keep every character in its place.

    For lines that something points into from the line below.

    Examples
    --------
    >>> masked("'s3.secret-key' = 'abc', x")
    "'s3.secret-key' = '***', x"
    """
    hidden = _PAIR.sub(lambda match: match["head"] + _stars(match["value"]), text)
    return _USER_INFO.sub(lambda match: match[1] + "*" * (len(match[0]) - len(match[1])), hidden)


def without_credentials(uri: str) -> str:
    """Take user, password and query out of a URI; what is no URI stays as it is.

    Examples
    --------
    >>> without_credentials("s3://key:secret@bucket/w?token=x")
    's3://bucket/w'
    >>> without_credentials("./a?b@c")
    './a?b@c'
    """
    match = _URI.match(_USER_INFO.sub(r"\1", uri))
    return match[1] + match[2].rpartition("@")[2] + match[3] if match else uri


def _hide(match: re.Match[str]) -> str:
    value = match["value"]
    quote = value[0] if value[0] in "'\"" else ""
    return f"{match['head']}{quote}{HIDDEN}{quote}"


def _stars(value: str) -> str:
    if value[0] not in "'\"":
        return "*" * len(value)
    is_closed = len(value) > 1 and value[-1] == value[0]
    inner = value[1:-1] if is_closed else value[1:]
    return value[0] + re.sub(r"[^\n]", "*", inner) + (value[0] if is_closed else "")
