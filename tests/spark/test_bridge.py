from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructType

from paimonlab.errors import CorruptDataError, DataError, UnsupportedError
from paimonlab.spark.jvm.bridge import ANALYSIS, Bridge, Proxy
from tests.waiting import until


class Call(Proxy):
    """Something that Java calls."""

    class Java:
        implements = ["java.util.concurrent.Callable"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, work: Callable[[], Any]) -> None:
        super().__init__(bridge)
        self._work = work

    def call(self) -> Any:
        return self._work()


class Nothing(Proxy):
    """Lacks the method that Java calls."""

    class Java:
        implements = ["java.util.concurrent.Callable"]  # noqa: RUF012


@pytest.fixture(scope="module")
def bridge(spark: SparkSession) -> Bridge:
    return Bridge(spark)


def from_java(bridge: Bridge, proxy: Proxy) -> Any:
    """Let Java call ``proxy``, wrap what it throws, and ask for the result."""
    task = bridge.jvm.java.util.concurrent.FutureTask(proxy)
    task.run()
    return task.get()


def raise_error(error: BaseException) -> Any:
    raise error


def test_java_calls_python(bridge: Bridge) -> None:
    assert from_java(bridge, Call(bridge, lambda: 42)) == 42


@pytest.mark.parametrize(
    "error",
    [
        UnsupportedError("x = 'y'", "because"),
        DataError("column 'a': ✗"),
        ValueError("a bug"),
        KeyboardInterrupt(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_comes_back_as_itself_through_java(bridge: Bridge, error: BaseException) -> None:
    with pytest.raises(type(error)) as caught:
        from_java(bridge, Call(bridge, lambda: raise_error(error)))

    assert caught.value is error


def test_what_java_is_answered_with_is_kept_until_it_has_read_the_answer(bridge: Bridge) -> None:
    """Python tells Java to forget an object once it has none, sooner than Java reads on perhaps."""
    given: list[weakref.ref[Any]] = []

    def give() -> Any:
        made = bridge.jvm.java.lang.Object()
        given.append(weakref.ref(made))
        return made

    task = bridge.jvm.java.util.concurrent.FutureTask(Call(bridge, give))
    task.run()

    gc.collect()
    assert given[0]() is not None
    assert from_java(bridge, Call(bridge, lambda: 42)) == 42
    gc.collect()
    assert given[0]() is None


def test_an_error_from_another_thread_of_java_comes_back(bridge: Bridge) -> None:
    executor = bridge.jvm.java.util.concurrent.Executors.newSingleThreadExecutor()
    error = DataError("from a pool")
    try:
        future = executor.submit(Call(bridge, lambda: raise_error(error)))

        with pytest.raises(DataError, match="from a pool"):
            future.get()
    finally:
        executor.shutdown()


def test_a_missing_method_is_named(bridge: Bridge) -> None:
    with pytest.raises(UnsupportedError, match=r"Nothing\.call"):
        from_java(bridge, Nothing(bridge))


def test_sparks_own_exceptions_are_thrown_as_they_are(bridge: Bridge) -> None:
    class Missing(Proxy):
        class Java:
            implements = ["java.util.concurrent.Callable"]  # noqa: RUF012

        def call(self) -> None:
            exception = bridge.java_class(ANALYSIS + "NoSuchTableException")
            bridge.throw(exception(bridge.identifier(["db"], "t")))

    task = bridge.jvm.java.util.concurrent.FutureTask(Missing(bridge))
    task.run()

    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        task.get()


def test_errors_of_spark_itself_stay_what_they_are(spark: SparkSession, bridge: Bridge) -> None:
    with pytest.raises(ValueError, match="remembered"):
        from_java(bridge, Call(bridge, lambda: raise_error(ValueError("remembered"))))

    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.table("no_such_table")


def test_the_end_of_a_loop_is_no_error_but_what_lacks_in_java_is_said(bridge: Bridge) -> None:
    assert [*bridge.list(["a", "b"]).iterator()] == ["a", "b"]
    with pytest.raises(Exception, match="No value present"):
        bridge.jvm.java.util.Optional.empty().get()


def test_an_error_of_a_worker_has_its_class_and_message(spark: SparkSession) -> None:
    def fail(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from paimonlab.errors import CorruptDataError  # noqa: PLC0415 - runs in the worker

        raise CorruptDataError("/t/b.parquet", "page 3:\nwrong checksum", "manifest-1")

    with pytest.raises(CorruptDataError) as caught:
        spark.range(1).mapInArrow(fail, "id bigint").collect()

    message = "/t/b.parquet: page 3:\nwrong checksum (referred to by manifest-1)"
    assert str(caught.value) == message
    assert type(caught.value).__name__ == "CorruptDataError"


def test_other_errors_of_a_worker_stay_what_spark_makes_of_them(spark: SparkSession) -> None:
    def fail(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        raise KeyError("no error of ours")

    with pytest.raises(PythonException, match="no error of ours"):
        spark.range(1).mapInArrow(fail, "id bigint").collect()


def test_callbacks_run_in_many_threads_at_once(bridge: Bridge) -> None:
    got: list[int] = []

    def ask(number: int) -> None:
        got.append(from_java(bridge, Call(bridge, lambda: bridge.jvm.Math.addExact(number, 1))))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(got) == list(range(1, 9))


def test_threads_of_java_that_ended_leave_no_threads_of_python(bridge: Bridge) -> None:
    """One of 210 threads still waits, inside a call that has led to another: it gets its answer."""
    executors = bridge.jvm.java.util.concurrent.Executors
    entered, leave = threading.Event(), threading.Event()

    def wait() -> str:
        inner = str(from_java(bridge, Call(bridge, lambda: "inner")))
        entered.set()
        assert leave.wait(60)
        return inner + from_java(bridge, Call(bridge, lambda: " and outer"))

    waiting = executors.newSingleThreadExecutor()
    answer = waiting.submit(Call(bridge, wait))
    assert entered.wait(60)
    before = threading.active_count()

    for _ in range(3):
        pool = executors.newFixedThreadPool(70)
        answers = pool.invokeAll(bridge.list(Call(bridge, lambda: 1) for _ in range(70)))
        assert [each.get() for each in answers] == [1] * 70
        pool.shutdown()
        assert pool.awaitTermination(60, bridge.jvm.java.util.concurrent.TimeUnit.SECONDS)
    until(lambda: threading.active_count() <= before + 140)  # 70 of the last pool, 64 before
    leave.set()
    assert answer.get() == "inner and outer"
    waiting.shutdown()


def test_python_values_become_java_values(bridge: Bridge) -> None:
    shown = {
        "strings": list(bridge.strings(["a", "b"])),
        "map": bridge.map({"b": 1, "a": 2}).toString(),
        "set": bridge.set(["x"]).toString(),
        "list": bridge.list([1, None]).toString(),
        "seq": bridge.seq([1, 2]).toString(),
        "none": bridge.none().toString(),
        "some": bridge.some("x").toString(),
        "scala_map": bridge.scala_map({"a": "b"}).toString(),
        "option": bridge.options({"Key": "v"}).get("kEY"),
        "capabilities": bridge.capabilities("BATCH_READ").toString(),
        "identifier": bridge.identifier(["db"], "t$x").toString(),
    }

    assert shown == {
        "strings": ["a", "b"],
        "map": "{b=1, a=2}",
        "set": "[x]",
        "list": "[1, null]",
        "seq": "List(1, 2)",
        "none": "None",
        "some": "Some(x)",
        "scala_map": "Map(a -> b)",
        "option": "v",
        "capabilities": "[BATCH_READ]",
        "identifier": "db.`t$x`",
    }


def test_a_schema_survives_the_way_to_java_and_back(bridge: Bridge) -> None:
    schema = StructType().add("id", LongType(), nullable=False).add("v", StringType())

    assert bridge.python_schema(bridge.java_schema(schema)) == schema
    assert [column.name() for column in bridge.columns(schema)] == ["id", "v"]


def test_arrow_rows_become_internal_rows(bridge: Bridge) -> None:
    schema = StructType().add("id", LongType()).add("v", StringType())

    rows = bridge.internal_rows(pa.table({"id": [1, None], "v": ["a", "b"]}), schema)

    assert [(row.isNullAt(0), row.getUTF8String(1).toString()) for row in rows] == [
        (False, "a"),
        (True, "b"),
    ]
    assert len(bridge.internal_rows(pa.table({"id": [], "v": []}), schema)) == 0


def test_json_becomes_java_objects_in_one_call(bridge: Bridge) -> None:
    text = '[{"path": "file:/a", "length": 3}, {"path": "file:/b", "length": 4}]'

    statuses = bridge.from_json("[Lorg.apache.hadoop.fs.FileStatus;", text)

    assert [status.getLen() for status in statuses] == [3, 4]
