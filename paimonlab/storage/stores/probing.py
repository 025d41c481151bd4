"""Whether a store keeps the conditions that commits rest on; asked once, before the first one."""

from __future__ import annotations

import contextlib
import uuid
from typing import Any

import obstore
from obstore.store import S3Store

from paimonlab.storage.stores.answers import Answer, answer_of, failure, is_answer_of_store

_PREFIX = ".paimonlab-probe-"


def broken_condition(store: S3Store, folder_key: str, path: str) -> str:
    """Try conditions on an object of a new name.

    Parameters
    ----------
    store
        Sends each request once, or again: no answer here is in doubt for a commit.
    folder_key
        Where the object is made, and deleted again.
    path
        What errors name.

    Returns
    -------
    str
        Which one the store does not keep, as part of a sentence; empty: it keeps them.

    Raises
    ------
    OSError
        If the store does not let it be found out.
    """
    key = "/".join(filter(None, (folder_key, f"{_PREFIX}{uuid.uuid4()}")))
    never: Any = {"e_tag": '"00000000000000000000000000000000"'}
    try:
        try:
            obstore.put(store, key, b"1", use_multipart=False)
            if _has_effect(store, key, "create"):
                return "the store lets an object be created that exists"
            if _has_effect(store, key, never):
                return "the store lets an object be replaced whatever its version is"
        finally:
            with contextlib.suppress(Exception):
                obstore.delete(store, key)
    except Exception as error:
        if is_answer_of_store(error):
            raise failure(error, path, "trying out conditional writes") from None
        raise
    return ""


def _has_effect(store: S3Store, key: str, mode: Any) -> bool:
    """Whether a request has an effect whose condition does not hold."""
    try:
        obstore.put(store, key, b"2", mode=mode, use_multipart=False)
    except Exception as error:
        if not is_answer_of_store(error):
            raise
        answer = answer_of(error)
        if answer in (Answer.TAKEN, Answer.CONFLICT):
            return False
        if "501" in str(error) or "NotImplemented" in str(error):
            return True
        raise
    return True
