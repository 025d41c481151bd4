"""Whether a store keeps the conditions that commits rest on; asked once, before the first one."""

from __future__ import annotations

import contextlib
import random
import time
import uuid
from typing import Any

import obstore

from paimonlab.storage.stores.answers import (
    Answer,
    answer_of,
    failure,
    has_no_conditions,
    is_answer_of_store,
)
from paimonlab.storage.stores.connecting import Bucket, ObjectStore

_PREFIX = ".paimonlab-probe-"
_ATTEMPTS = 8
_PAUSE_SECONDS = 0.05


def broken_condition(bucket: Bucket, folder_key: str, path: str) -> str:
    """Try conditions on an object of a new name.

    Parameters
    ----------
    bucket
        Requests are sent once, or again: no answer here is in doubt for a commit.
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
    key = _new_key(folder_key)
    # One store goes by entity tags, another by numbers of versions.
    never: Any = {"e_tag": '"00000000000000000000000000000000"', "version": "1"}
    try:
        try:
            obstore.put(bucket.patient, key, b"1", use_multipart=False)
            if _has_effect(bucket.creating, key, bucket.create_mode):
                return "the store lets an object be created that exists"
            if bucket.replaces_versions and _has_effect(bucket.patient, key, never):
                return "the store lets an object be replaced whatever its version is"
        finally:
            with contextlib.suppress(Exception):
                obstore.delete(bucket.patient, key)
    except Exception as error:
        if is_answer_of_store(error):
            raise failure(error, path, "trying out conditional writes") from None
        raise
    return ""


def refuses_versions(bucket: Bucket, folder_key: str, path: str) -> bool:
    """Whether the store does not replace an object if its version is the one that is named.

    Ceph 16 answers 412 to each entity tag in quotes, as other stores want it. Parameters and errors
    are those of `broken_condition`.
    """
    key = _new_key(folder_key)
    try:
        try:
            made: Any = obstore.put(bucket.patient, key, b"1", use_multipart=False)
            version = {name: made[name] for name in ("e_tag", "version") if made.get(name)}
            return not _has_effect(bucket.patient, key, version)
        finally:
            with contextlib.suppress(Exception):
                obstore.delete(bucket.patient, key)
    except Exception as error:
        if is_answer_of_store(error):
            raise failure(error, path, "trying out conditional writes") from None
        raise


def _new_key(folder_key: str) -> str:
    return "/".join(filter(None, (folder_key, f"{_PREFIX}{uuid.uuid4()}")))


def _has_effect(store: ObjectStore, key: str, mode: Any) -> bool:
    """Whether a request with a condition has an effect."""
    for attempt in range(_ATTEMPTS):
        try:
            obstore.put(store, key, b"2", mode=mode, use_multipart=False)
        except Exception as error:
            if not is_answer_of_store(error):
                raise
            answer = answer_of(error)
            if answer in (Answer.TAKEN, Answer.CONFLICT):
                return False
            if has_no_conditions(error):
                return True
            if answer is Answer.REFUSED or attempt == _ATTEMPTS - 1:
                raise
            time.sleep(_PAUSE_SECONDS * 2**attempt * (0.5 + random.random() / 2))  # noqa: S311
        else:
            return True
    raise AssertionError("the last attempt returns or raises")
