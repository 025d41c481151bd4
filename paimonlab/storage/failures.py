"""System errors become `StorageError` where they occur.

Files that are missing or there already are answers, not failures, and stay what they are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from paimonlab.errors import CorruptMetadataError, PaimonError, StorageError

Method = TypeVar("Method", bound=Callable[..., Any])
_ANSWERS = (FileNotFoundError, FileExistsError, PaimonError)


def named_failures(method: Method) -> Method:
    """Make `StorageError` of what a method of a store raises; its first argument is the path."""

    @functools.wraps(method)
    def named(self: Any, path: str | Mapping[str, Any], *others: Any, **options: Any) -> Any:
        try:
            return method(self, path, *others, **options)
        except _ANSWERS:
            raise
        except OSError as error:
            first = path if isinstance(path, str) else next(iter(path), "")
            raise StorageError.of(error, first) from error

    return named  # type: ignore[return-value]  # has the arguments of the method


@contextmanager
def failures_named(path: str) -> Iterator[None]:
    """Make `StorageError` of what goes wrong while an opened file is written."""
    try:
        yield
    except _ANSWERS:
        raise
    except OSError as error:
        raise StorageError.of(error, path) from error


def delete_each(
    delete: Callable[[str], None], paths: Iterable[str]
) -> Mapping[str, OSError | CorruptMetadataError]:
    """Delete files one after the other; return what could not be, and why."""
    left: dict[str, OSError | CorruptMetadataError] = {}
    for path in paths:
        try:
            delete(path)
        except FileNotFoundError:
            pass
        except CorruptMetadataError as error:
            left[path] = error
        except OSError as error:
            left[path] = error if isinstance(error, StorageError) else StorageError.of(error, path)
    return left
