from __future__ import annotations

from typing import Any

import pytest
from py4j.java_gateway import JavaPackage
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.java_names import JavaNames


class Asked:
    """A JVM that notes which names it is asked for; only ``a.b.C`` and ``D`` are classes."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.names.append(name)
        return object() if name in {"a.b.C", "D"} else JavaPackage(name, None)


def test_a_class_is_asked_for_once_and_a_package_never() -> None:
    jvm = Asked()
    names: Any = JavaNames(jvm)

    assert names.a.b.C is names.a.b.C
    assert names.D is names.D
    getattr(names, "a.b.C")

    assert jvm.names == ["a.b.C", "D", "a.b.C"]


def test_what_is_no_class_yet_is_asked_for_again() -> None:
    jvm = Asked()
    names: Any = JavaNames(jvm)

    for _ in range(2):
        assert isinstance(names.a.Later, JavaPackage)

    assert jvm.names == ["a.Later"] * 2


@pytest.fixture
def bridge(spark: SparkSession) -> Bridge:
    return Bridge(spark)


def test_names_mean_what_they_mean_to_py4j(bridge: Bridge) -> None:
    jvm = bridge.gateway.jvm

    assert bridge.jvm is Bridge(bridge.spark).jvm
    for name in ("java.util.ArrayList", "scala.Some", "java.util.Map$Entry"):
        assert bridge.java_class(name)._fqn == getattr(jvm, name)._fqn
    assert bridge.jvm.java.util.ArrayList._fqn == jvm.java.util.ArrayList._fqn
    assert bridge.jvm.java.lang.Math.max(1, 2) == 2


def test_classes_and_their_methods_are_asked_for_once(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, jvm = bridge.gateway._gateway_client, bridge.gateway.jvm
    send, sent = client.send_command, list[str]()

    def noted(command: str, *more: Any) -> Any:
        sent.append(command[0])
        return send(command, *more)

    def use() -> None:
        column = getattr(jvm, "org.apache.spark.sql.functions").col("a")
        assert str(jvm.org.apache.spark.sql.functions.col("a")) == str(column) == "a"
        assert jvm.java.lang.Math.max(1, 2) == 2
        assert bridge.none() == bridge.none()

    use()
    monkeypatch.setattr(client, "send_command", noted)
    use()

    by_parts = 6
    """Questions of the class with a small letter, of which each part may be a package."""
    assert sent.count("r") == by_parts


def test_errors_of_spark_are_of_the_same_kinds(spark: SparkSession, bridge: Bridge) -> None:
    assert isinstance(bridge.gateway.jvm.py4j, JavaNames)

    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("SELECT * FROM nope")
