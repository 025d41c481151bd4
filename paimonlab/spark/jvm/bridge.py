"""Java values from Python ones, and the base of the objects that Spark calls.

A class whose inner class ``Java`` lists interfaces in ``implements`` is a dynamic proxy for Java.
Such a proxy runs no default method of an interface: every method that Spark calls has to be
there. Arguments arrive as Java objects; text, numbers and booleans as Python's.
"""

from __future__ import annotations

import functools
import json
import threading
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql.types import StructType, _parse_datatype_json_string

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm import failures
from paimonlab.spark.jvm.calling_threads import CallingThreads
from paimonlab.spark.jvm.java_names import names_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

CONNECTOR = "org.apache.spark.sql.connector."
"""Package of Spark's connector interfaces."""
ANALYSIS = "org.apache.spark.sql.catalyst.analysis."
"""Package of Spark's own "no such table" exceptions."""
_MOST_ARGUMENTS = 10
"""Of ``List.of``."""
_handed_over = threading.local()
"""What the last call of Java's was answered with, in each thread."""
_kept: weakref.WeakKeyDictionary[Any, dict[Hashable, Any]] = weakref.WeakKeyDictionary()
"""What the JVM of a gateway was asked for once."""


class Bridge:
    """The JVM of one Spark session, with its callback server running."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        gateway = spark.sparkContext._gateway
        assert gateway is not None, "a session has a JVM"
        self.gateway: Any = gateway
        self.jvm: Any = names_of(gateway)
        ensure_callback_server_started(self.gateway)
        server = self.gateway._callback_server
        server.callback_server_parameters.propagate_java_exceptions = True
        self.calling_threads: CallingThreads = self.once(
            "calling threads", lambda: CallingThreads(self.gateway)
        )
        failures.install()

    @property
    def session(self) -> Any:
        """Spark's own (Java) session."""
        return self.spark._jsparkSession

    # Java values

    def java_class(self, name: str) -> Any:
        """Return the class ``name`` for constructors and static methods (``Outer$Inner`` too)."""
        return getattr(self.jvm, name)

    def module(self, name: str) -> Any:
        """Return the Scala ``object`` of that name."""
        return getattr(getattr(self.jvm, name + "$"), "MODULE$")

    def array(self, element: str | Any, items: Sequence[Any]) -> Any:
        """Make a Java array; ``element`` is a class or the name of one."""
        cls = self.java_class(element) if isinstance(element, str) else element
        array = self.gateway.new_array(cls, len(items))
        put = self.jvm.java.lang.reflect.Array.set  # array[index] = item asks for its length, too
        for index, item in enumerate(items):
            put(array, index, item)
        return array

    def strings(self, items: Iterable[str]) -> Any:
        """Make a ``String[]``, in two calls."""
        return self.from_json("[Ljava.lang.String;", json.dumps([*items]))

    def map(self, items: Mapping[str, Any]) -> Any:
        """Make a ``java.util.Map``; the order is kept. One of texts takes two calls."""
        if len(items) > 1 and all(isinstance(value, str) for value in items.values()):
            return self.from_json("java.util.LinkedHashMap", json.dumps(dict(items)))
        result = self.jvm.java.util.LinkedHashMap()
        for key, value in items.items():
            result.put(key, value)
        return result

    def set(self, items: Iterable[Any]) -> Any:
        """Make a ``java.util.Set``."""
        result = self.jvm.java.util.HashSet()
        for item in items:
            result.add(item)
        return result

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what ``make`` returned when the JVM was first asked for ``key``.

        To be changed by nobody: it is that of all sessions of the JVM.
        """
        kept = _kept.setdefault(self.gateway, {})
        if key not in kept:
            kept[key] = make()
        return kept[key]

    def strings_once(self, *items: str) -> Any:
        """Return a ``java.util.Set`` of text that nobody changes: the same one every time."""
        return self.once(("texts", *items), lambda: self.set(items))

    def capabilities(self, *names: str, kind: str = "TableCapability") -> Any:
        """Return the set of the constants of these names of an enumeration: the same always.

        Spark asks for it a dozen times in one statement.
        """

        def constants() -> Any:
            every = self.java_class(f"{CONNECTOR}catalog.{kind}")
            return self.set(every.valueOf(name) for name in names)

        return self.once((kind, *names), constants)

    def list(self, items: Iterable[Any]) -> Any:
        """Make a ``java.util.List``, in two calls for each ten items."""
        result, given = self.jvm.java.util.ArrayList(), [*items]
        for start in range(0, len(given), _MOST_ARGUMENTS):
            some = given[start : start + _MOST_ARGUMENTS]
            if len(some) == 1 or any(one is None for one in some):  # List.of takes no null
                for item in some:
                    result.add(item)
            else:
                result.addAll(self.jvm.java.util.List.of(*some))
        return result

    def seq(self, items: Iterable[Any]) -> Any:
        """Make a Scala ``Seq``."""
        return self.jvm.scala.jdk.javaapi.CollectionConverters.asScala(self.list(items)).toSeq()

    def none(self) -> Any:
        """Return Scala's ``None``."""
        return self.module("scala.None")

    def some(self, value: Any) -> Any:
        """Make a Scala ``Some``."""
        return self.jvm.scala.Some(value)

    def scala_map(self, items: Mapping[str, Any] | None = None) -> Any:
        """Make an immutable Scala ``Map``."""
        result = self.module("scala.collection.immutable.Map").empty()
        for key, value in (items or {}).items():
            result = result.updated(key, value)
        return result

    def options(self, items: Mapping[str, str] | None = None) -> Any:
        """Make a ``CaseInsensitiveStringMap``."""
        cls = self.java_class("org.apache.spark.sql.util.CaseInsensitiveStringMap")
        return cls(self.map(items or {}))

    @property
    def conf(self) -> Any:
        """Settings of the session for which this thread plans: ours, or a clone of it."""
        return self.java_class("org.apache.spark.sql.internal.SQLConf").get()

    def settings(self) -> dict[str, str]:
        """Return all settings of the session, in one call."""
        java_settings = self.jvm.scala.jdk.javaapi.CollectionConverters.asJava(
            self.conf.getAllConfs()
        )
        return self.texts_of_map(java_settings)

    def texts_of_map(self, java_map: Any) -> dict[str, str]:
        """Return a ``java.util.Map`` of text, in one call."""
        return dict(json.loads(self._json_mapper.writeValueAsString(java_map)))

    def texts(self, java_array: Any) -> Sequence[str]:
        """Return a ``String[]``, in one call."""
        return [*json.loads(self._json_mapper.writeValueAsString(java_array))]

    def texts_of_seq(self, seq: Any) -> Sequence[str]:
        """Return a ``scala.collection.Seq`` of text, in two calls."""
        return self.texts(self.jvm.scala.jdk.javaapi.CollectionConverters.asJava(seq))

    def from_json(self, class_name: str, text: str) -> Any:
        """Build Java objects from JSON in one call, by their fields (``[La.b.C;`` for arrays)."""
        return self._json_mapper.readValue(text, self.jvm.java.lang.Class.forName(class_name))

    @property
    def _json_mapper(self) -> Any:
        return self.once("JSON", self._made_json_mapper)

    def _made_json_mapper(self) -> Any:
        mapper = self.jvm.com.fasterxml.jackson.databind.ObjectMapper()
        annotations = "com.fasterxml.jackson.annotation."
        visible = self.java_class(annotations + "JsonAutoDetect$Visibility")
        accessor = self.java_class(annotations + "PropertyAccessor")
        mapper.setVisibility(accessor.FIELD, visible.ANY)
        mapper.setVisibility(accessor.SETTER, visible.NONE)
        return mapper

    # Spark values

    def java_type(self, data_type: DataType) -> Any:
        """Turn a PySpark type into Spark's own."""
        return self.session.parseDataType(data_type.json())

    def java_schema(self, schema: StructType) -> Any:
        """Turn a PySpark schema into Spark's own."""
        return self.java_type(schema)

    def columns(self, schema: StructType) -> Any:
        """Make the connector's ``Column[]`` of a schema; defaults stand in the metadata."""
        definition = self.java_class(CONNECTOR + "catalog.TableInfo$Builder")()
        definition.withSchema(self.java_schema(schema))
        return definition.build().columns()

    def python_type(self, java_type: Any) -> DataType:
        """Turn Spark's own type into a PySpark type."""
        return _parse_datatype_json_string(java_type.json())

    def python_schema(self, java_schema: Any) -> StructType:
        """Turn Spark's own schema into a PySpark schema."""
        schema = self.python_type(java_schema)
        assert isinstance(schema, StructType)
        return schema

    def identifier(self, namespace: Sequence[str], name: str) -> Any:
        """Make the connector's ``Identifier``."""
        return self.identifiers(namespace, [name])[0]

    def identifiers(self, namespace: Sequence[str], names: Iterable[str]) -> Sequence[Any]:
        """Make an ``Identifier`` of each name of a namespace, in one call each."""
        cls, shared = self.java_class(CONNECTOR + "catalog.Identifier"), self.strings(namespace)
        return [cls.of(shared, name) for name in names]

    def internal_rows(self, table: pa.Table, schema: StructType) -> Any:
        """Turn a small Arrow table into an ``InternalRow[]``, made in the driver."""
        with self._own_session():
            frame = self.spark.createDataFrame(table, schema)
        return frame._jdf.queryExecution().executedPlan().executeCollect()

    @contextmanager
    def _own_session(self) -> Iterator[None]:
        """Let PySpark make our session the active one of this thread, and put the other back."""
        sessions = self.java_class("org.apache.spark.sql.classic.SparkSession")
        active = sessions.getActiveSession()
        try:
            yield
        finally:
            if active.isDefined():
                sessions.setActiveSession(active.get())

    # Errors

    def throw(self, java_exception: Any) -> NoReturn:
        """Raise what Py4J hands to Java as ``java_exception``; only inside a callback."""
        raise Py4JJavaError("", java_exception)

    def unchecked(self, error: Py4JJavaError) -> Py4JJavaError:
        """Turn the error of a failed job into an unchecked exception.

        Java hides any other checked exception of a proxy behind one without a message.
        """
        failure = error.java_exception
        if failure.getClass().getName() != "org.apache.spark.SparkException":
            return error
        return Py4JJavaError("", self.jvm.java.lang.RuntimeException(failure.getMessage(), failure))

    def java_exception(self, error: BaseException) -> Any:
        """Make the Java exception that stands for ``error`` until it is back in Python."""
        text = str(error) or type(error).__name__
        lang = self.jvm.java.lang
        if isinstance(error, UnsupportedError):
            exception = lang.UnsupportedOperationException(text)
        elif isinstance(error, Exception):
            exception = lang.IllegalArgumentException(text)
        else:  # KeyboardInterrupt: it must not break the connection to the JVM
            exception = self.jvm.java.util.concurrent.CancellationException(text)
        failures.remember(self.jvm, exception, error)
        return exception


class Proxy:
    """Base of the objects that Spark calls.

    Every public method of a subclass reports what it raises to Java (`Bridge.java_exception`), so
    Python code must not call a public method of a proxy to catch its error; what Python needs
    has a name with an underscore in front. A method of the interface that is missing in the
    class is an `UnsupportedError` when Spark calls it.
    """

    class Java:
        """The interfaces, by their full names; to be set in each subclass."""

        implements: list[str] = []  # noqa: RUF012 - py4j reads it as it is

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, member in list(vars(cls).items()):
            if not name.startswith("_") and callable(member) and not isinstance(member, type):
                setattr(cls, name, _reporting(member))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "Java":
            raise AttributeError(name)
        error = UnsupportedError(
            f"{type(self).__name__}.{name}", "this statement or call of Spark has no Paimon side"
        )
        self._bridge.throw(self._bridge.java_exception(error))

    def toString(self) -> str:
        """Answer ``Object.toString``."""
        return f"{type(self).__name__}@{id(self):x}"

    def hashCode(self) -> int:
        """Answer ``Object.hashCode``."""
        return hash(self) & 0x7FFFFFFF

    def equals(self, other: object) -> bool:
        """Answer ``Object.equals``."""
        return self == other


def _reporting(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let ``method`` raise only what Py4J can hand to Java."""

    @functools.wraps(method)
    def call(self: Proxy, *arguments: Any) -> Any:
        try:
            self._bridge.calling_threads.note()
            result = method(self, *arguments)
        except Py4JJavaError as error:
            thrown = self._bridge.unchecked(error)
            _hand_over(thrown.java_exception)
            raise thrown from error.__cause__
        except BaseException as error:
            thrown = Py4JJavaError("", self._bridge.java_exception(error))
            _hand_over(thrown.java_exception)
            raise thrown from error
        _hand_over(result)
        return result

    return call


def _hand_over(answer: object) -> None:
    """Keep the Java object that a call of Java's is answered with until this thread's next one.

    Py4J lets Java forget an object once Python does. It could do so before Java had read the
    answer, which names the object, and Java took it for null: on a busy machine now and then.
    """
    _handed_over.answer = answer if isinstance(answer, JavaObject) else None
