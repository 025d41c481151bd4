"""What answers of a store mean, and errors that name store, key and attempts but no secret."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from enum import Enum
from typing import TypeVar

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
_EXISTS = frozenset(("FileAlreadyExists", "BlobAlreadyExists", "ObjectAlreadyExists"))
"""Codes of 409 that say what 412 does elsewhere."""
_FULL = "507"
_NO_ROOM = {
    "QuotaExceeded": errno.EDQUOT,
    "InsufficientStorageSpace": errno.EDQUOT,
    "XMinioAdminBucketQuotaExceeded": errno.EDQUOT,
    "XMinioStorageFull": errno.ENOSPC,
}
"""What Ceph, OBS and MinIO call it."""
_BROKEN_ANSWERS = 3
"""After which a question is given up."""
_REFUSED = frozenset(("400", "401", "403", "404", "405", "411", "413", "501"))

T = TypeVar("T")


class Answer(Enum):
    """What is known after a conditional request."""

    DONE = "it had its effect"
    TAKEN = "the condition did not hold: it had no effect now"
    CONFLICT = "another request to the key was under way: it had no effect"
    REFUSED = "it had no effect, and will not have one later"
    FULL = "the store says that it has no room; if there is nothing, nothing comes later"
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
    return Answer.FULL if status == _FULL else Answer.UNKNOWN


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


def whole_answer(ask: Callable[[], T]) -> T:
    """Ask again if an answer broke off: the library tries requests again, but not to read answers.

    Parameters
    ----------
    ask
        A question, which changes nothing.
    """
    for _ in range(_BROKEN_ANSWERS):
        try:
            return ask()
        except Exception as error:
            kind = _KIND.search(str(error))
            broke_off = kind is not None and kind[1] != "Connect" and not _attempts(error)
            if not is_answer_of_store(error) or not broke_off:
                raise
    return ask()


def failure(
    error: Exception, path: str, did: str, secrets: tuple[str, ...] = (), *, attempts: int = 0
) -> OSError:
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
    attempts
        How often the request was sent; 0: the library tells.

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
    tried = f" after {attempts} attempt{'s' * (attempts > 1)}" if attempts else _attempts(error)
    return StorageError(_number(error), f"{did} failed{tried}: {without_secrets(told)}", path)


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


def _number(error: Exception) -> int:
    """Return the number of the system's error that says the same."""
    if isinstance(error, FileNotFoundError):
        return errno.ENOENT
    if (code := _code(error)) in _NO_ROOM:
        return _NO_ROOM[code]
    if _status(error) == _FULL:
        return errno.ENOSPC
    return errno.EACCES if _is_denied(error) else errno.ECONNABORTED


def _is_denied(error: Exception) -> bool:
    denied = (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError)
    return isinstance(error, denied) or _status(error) in ("401", "403")
