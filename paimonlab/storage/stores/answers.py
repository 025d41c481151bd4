"""What answers of a store mean, and errors that name store, key and attempts but no secret."""

from __future__ import annotations

import errno
import re
from enum import Enum

from obstore import exceptions

from paimonlab.errors import PaimonError, StorageError, UnsupportedError
from paimonlab.secrets import HIDDEN, without_secrets
from paimonlab.storage.schemes import SINGLE_WRITER

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([^<]{1,100})</Code>")
_MESSAGE = re.compile(r"<Message>([^<]{1,300})</Message>")
_RETRIES = re.compile(r"after (\d+) retries")
_KIND = re.compile(r"kind: (Connect|Timeout|Interrupted|Request|Decode)\b")
_KINDS = {
    "Connect": "no connection",
    "Timeout": "no answer in time",
    "Interrupted": "the connection broke",
    "Request": "the connection broke",
    "Decode": "the answer was cut short",
}
_NO_BUCKET = ("NoSuchBucket", "ContainerNotFound")
_EXISTS = frozenset(("FileAlreadyExists", "BlobAlreadyExists"))
"""Codes of 409 that say what 412 does elsewhere."""
_REFUSED = frozenset(("400", "401", "403", "404", "405", "411", "413", "501"))


class Answer(Enum):
    """What is known after a conditional request."""

    DONE = "it had its effect"
    TAKEN = "the condition did not hold: it had no effect now"
    CONFLICT = "another request to the key was under way: it had no effect"
    REFUSED = "it had no effect, and will not have one later"
    UNKNOWN = "it may have had its effect, or may have it later"


def answer_of(error: Exception) -> Answer:
    """Say what an error of a conditional request means."""
    status = _status(error)
    if isinstance(error, (exceptions.AlreadyExistsError, exceptions.PreconditionError)):
        is_conflict = status == "409" and _code(error) not in _EXISTS
        return Answer.CONFLICT if is_conflict else Answer.TAKEN
    if isinstance(error, (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError)):
        return Answer.REFUSED
    if isinstance(error, (exceptions.NotSupportedError, exceptions.InvalidPathError)):
        return Answer.REFUSED
    if isinstance(error, FileNotFoundError) or status in _REFUSED:
        return Answer.REFUSED
    return Answer.UNKNOWN


def has_no_conditions(error: Exception) -> bool:
    """Whether an answer says that the store knows no conditional requests at all.

    Only its status and code count: the text of an error names the key as well, which may have any
    digits in it.
    """
    return _status(error) == "501" or _code(error) == "NotImplemented"


def is_beyond_end(error: Exception) -> bool:
    """Whether an answer says that an object has none of the bytes that were asked for."""
    return _status(error) == "416"


def is_answer_of_store(error: Exception) -> bool:
    """Whether an error is one of requests, not a bug."""
    return isinstance(error, (exceptions.BaseError, OSError)) and not isinstance(error, PaimonError)


def failure(error: Exception, path: str, did: str, secrets: tuple[str, ...] = ()) -> OSError:
    """Make the error that callers see of one of the library.

    Parameters
    ----------
    error
        What the library raised.
    path
        Of the object.
    did
        What was tried, such as "reading".
    secrets
        Texts that must not be in the message.

    Returns
    -------
    OSError
        ``FileNotFoundError`` if there is no such object, else `StorageError`.
    """
    if isinstance(error, FileNotFoundError) and _code(error) not in _NO_BUCKET:
        return FileNotFoundError(errno.ENOENT, "there is no such object", path)
    told = _told(error)
    for secret in secrets:
        told = told.replace(secret, HIDDEN)
    number = errno.EACCES if _is_denied(error) else errno.ECONNABORTED
    if isinstance(error, FileNotFoundError):
        number = errno.ENOENT
    return StorageError(number, f"{did} failed{_attempts(error)}: {without_secrets(told)}", path)


def no_conditions(path: str, why: str) -> UnsupportedError:
    """Make the error for a store on which two writers could overwrite each other's snapshots."""
    return UnsupportedError(
        f"writing to {path}",
        f"{why}, so of two commits one could be lost. Use a store that keeps conditions, a catalog "
        f"with a lock (metastore = jdbc), or, if nothing else writes, {SINGLE_WRITER} = true; "
        "reading works",
    )


def _told(error: Exception) -> str:
    text = str(error)
    code, message = _CODE.search(text), _MESSAGE.search(text)
    status = _status(error)
    if code or message:
        parts = [status, code[1] if code else "", message[1] if message else ""]
        return " ".join(filter(None, parts))
    if status:
        return f"the answer was {status}"
    kind = _KIND.search(text)
    if kind:
        return _KINDS[kind[1]]
    return text.partition("\n")[0][:300]


def _status(error: Exception) -> str:
    match = _STATUS.search(str(error))
    return match[1] if match else ""


def _code(error: Exception) -> str:
    match = _CODE.search(str(error))
    return match[1] if match else ""


def _attempts(error: Exception) -> str:
    match = _RETRIES.search(str(error))
    return f" after {int(match[1]) + 1} attempts" if match else ""


def _is_denied(error: Exception) -> bool:
    denied = (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError)
    return isinstance(error, denied) or _status(error) in ("401", "403")
