"""Errors on their way through the JVM: raised in a callback, seen again in ``spark.sql(…)``.

Spark calls our Python objects from Java. What they raise has to become a Java exception, and
Spark may wrap that one in others. `remember` keeps the Python error beside the Java exception it
became; the hook that `install` puts into PySpark looks whether one of the causes of a Java
exception is a remembered one, and if so raises the Python error itself. An error of a Python
worker has come through a pipe as text; `from_worker` makes it again.
"""

from __future__ import annotations

import functools
import logging
import re
from collections import OrderedDict
from typing import Any

from pyspark import SparkContext
from pyspark.errors.exceptions import captured

from paimonlab import errors
from paimonlab.errors import PaimonError
from paimonlab.spark.jvm.file_failures import causes_of, damaged_file
from paimonlab.spark.jvm.inside_names import as_written
from paimonlab.spark.jvm.java_names import names_of
from paimonlab.spark.jvm.missing_names import with_hint, with_parameter

_KEPT = 16
"""Errors that are remembered; older ones surface as what PySpark makes of the Java exception."""
_IN_TRACEBACK = f"\n{errors.__name__}."
"""In front of the last line of a traceback."""
_OF_WORKERS = (
    captured.PythonException,
    captured.AnalysisException,  # planning a Python data source
    captured.StreamingQueryException,
)
"""What PySpark makes of an error of a Python worker, among others."""
_END_OF_ITERATION = "java.util.NoSuchElementException"
"""Ends each loop over a Java collection in py4j; PySpark would ask forty times what it means."""
_SPARK_EXCEPTION = "org.apache.spark.SparkException"
_NO_PARAMETER = "UNRECOGNIZED_PARAMETER_NAME"
_SQLSTATE = re.compile(r"\s*SQLSTATE: \w+\s*$")

_remembered: OrderedDict[int, tuple[Any, BaseException]] = OrderedDict()


def remember(jvm: Any, java_exception: Any, error: BaseException) -> None:
    """Keep ``error`` until ``java_exception`` comes back to Python.

    The traceback of a `PaimonError` is dropped (it would keep tables alive), that of a bug stays.
    """
    if isinstance(error, PaimonError):
        error.__traceback__ = None
    _remembered[_identity(jvm, java_exception)] = (java_exception, error)
    while len(_remembered) > _KEPT:
        _remembered.popitem(last=False)


def original(jvm: Any, java_exception: Any) -> BaseException | None:
    """Return the Python error that became ``java_exception``; None if it came from Java."""
    for cause in causes_of(java_exception):
        kept = _remembered.get(_identity(jvm, cause))
        if kept is not None and kept[0].equals(cause):
            return kept[1]
    return None


def install() -> None:
    """Make PySpark raise the Python error itself; a second call changes nothing."""
    convert = captured.convert_exception
    if getattr(convert, "_raises_originals", False):
        return

    @functools.wraps(convert)
    def convert_exception(java_exception: Any) -> BaseException:
        is_end = str(java_exception.getClass().getName()) == _END_OF_ITERATION
        if is_end and java_exception.getMessage() is None:  # Scala says which key is not there
            return captured.UnknownException(desc=_END_OF_ITERATION, stackTrace="")
        names = names_of(SparkContext._gateway)
        error = original(names, java_exception) if _remembered else None
        if error is not None:
            return error
        damage = damaged_file(java_exception)
        if damage is not None:
            return damage
        converted = convert(java_exception)
        if isinstance(converted, _OF_WORKERS):
            return from_worker(str(converted)) or _with_hints(converted)
        said = _error_of_rows(java_exception)
        return converted if said is None else captured.SparkRuntimeException(origin=said)

    convert_exception._raises_originals = True  # type: ignore[attr-defined]
    captured.convert_exception = convert_exception  # type: ignore[assignment]
    logging.getLogger("py4j.clientserver").addFilter(_is_no_callback_failure)


def _with_hints(converted: Any) -> Any:
    converted._desc = as_written(converted._desc or "")
    parameters = converted.getMessageParameters() or {}
    if converted.getCondition() == _NO_PARAMETER:
        converted._desc = with_parameter(
            converted._desc, parameters.get("argumentName", ""), parameters.get("proposal", "")
        )
        return converted
    name = parameters.get("relationName") or parameters.get("objectName")
    if name:
        converted._desc = with_hint(converted._desc, converted.getCondition() or "", name)
    return converted


def _error_of_rows(java_exception: Any) -> Any | None:
    """Return an error that Spark explains by a condition, and PySpark knows no class for.

    Of those it would show where in Java they were thrown, say of a subquery with several rows.
    """
    for cause in causes_of(java_exception):
        name = str(cause.getClass().getName())
        if name == _SPARK_EXCEPTION:
            is_said = cause.getCondition() is not None and cause.getCause() is None
            return None if not is_said or cause.isInternalError() else cause
        if name != "java.lang.RuntimeException":  # around the error of a job of ours
            return None
    return None


def from_worker(text: str) -> PaimonError | None:
    """Make the `PaimonError` again that a Python worker raised, of its class and with its message.

    Parameters
    ----------
    text
        What Spark reports: the traceback of the worker.
    """
    _, traceback, message = text.rpartition(_IN_TRACEBACK)
    name, _, said = message.partition(": ")
    kind = getattr(errors, name, None) if traceback else None
    if not (isinstance(kind, type) and issubclass(kind, PaimonError)):
        return None
    made = type(name, (kind,), {"__init__": _keep_message, "__str__": _message} | _names(kind))
    return made(_SQLSTATE.sub("", said).strip())


def _keep_message(error: PaimonError, message: str) -> None:
    PaimonError.__init__(error, message)


def _message(error: PaimonError) -> str:
    return str(error.args[0])


def _names(kind: type) -> dict[str, Any]:
    return {"__doc__": kind.__doc__, "__module__": kind.__module__}


def _is_no_callback_failure(record: logging.LogRecord) -> bool:
    """Drop py4j's log of an error that the caller is about to get anyway."""
    return "Python Proxy" not in str(record.msg)


def _identity(jvm: Any, java_object: Any) -> int:
    return int(jvm.java.lang.System.identityHashCode(java_object))
