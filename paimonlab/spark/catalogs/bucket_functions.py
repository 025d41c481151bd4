"""``sys.bucket(4, id, name)`` and its like: the bucket of a row with these values.

Spark could call a function of a catalog on executors only if they had its class. So a rule of the
analyzer puts an expression of Spark's own in the place of the call, the one by which rows are
written: it is generated code, and runs anywhere.

Source: apache/paimon@2887223 ``PaimonFunctions.BucketFunction``; apache/spark@v4.2.0 and v4.3.0,
``ApplyFunctionExpression``, ``V2ExpressionUtils``, ``Analyzer.postHocResolutionRules``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pyspark.sql import functions
from pyspark.sql import types as st

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.expressions import column_of, expression_of
from paimonlab.spark.jvm.rules import add_analyzer_rule
from paimonlab.spark.values.bucket_expression import has_expression, hash_of
from paimonlab.spark.values.types import fields_from_spark
from paimonlab.spec.buckets.bucket import takes_mod
from paimonlab.spec.buckets.hive_hash import is_hashable
from paimonlab.spec.types.data_types import DataField

_FUNCTIONS = CONNECTOR + "catalog.functions."
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
_POSITIVE = 2**31 - 1
_RULE = "BucketCalls"
_SOURCE = """
package org.paimonlab.spark;

import java.lang.reflect.Proxy;
import org.apache.spark.sql.catalyst.expressions.ApplyFunctionExpression;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Function2;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

public final class BucketCalls extends Rule {
  private final Function2 expression;

  public BucketCalls(Function2 expression) { this.expression = expression; }

  public TreeNode apply(TreeNode plan) {
    return ((LogicalPlan) plan).transformAllExpressionsWithSubqueries(new Step(this.expression));
  }

  /** Puts an expression in the place of a call. */
  public static final class Step extends AbstractPartialFunction {
    private final Function2 expression;

    public Step(Function2 expression) { this.expression = expression; }

    public boolean isDefinedAt(Object one) {
      if (!(one instanceof ApplyFunctionExpression)) return false;
      Object function = ((ApplyFunctionExpression) one).function();
      return Proxy.isProxyClass(function.getClass())
          && ((ApplyFunctionExpression) one).function().name().endsWith("bucket");
    }

    public Object applyOrElse(Object one, Function1 otherwise) {
      if (!this.isDefinedAt(one)) return otherwise.apply(one);
      ApplyFunctionExpression call = (ApplyFunctionExpression) one;
      StructType types = new StructType();
      for (int i = 0; i < call.children().size(); i++) {
        types = types.add("a" + i, ((Expression) call.children().apply(i)).dataType());
      }
      Seq made = (Seq) this.expression.apply(call.function().name(), types.json());
      return ((Expression) made.head()).transform(new Filling(made, call.children()));
    }
  }

  /** Puts arguments in the places of columns. */
  public static final class Filling extends AbstractPartialFunction {
    private final Seq columns;
    private final Seq arguments;

    public Filling(Seq columns, Seq arguments) {
      this.columns = columns;
      this.arguments = arguments;
    }

    public boolean isDefinedAt(Object one) { return this.columns.indexOf(one) > 0; }

    public Object applyOrElse(Object one, Function1 otherwise) {
      int place = this.columns.indexOf(one);
      return place > 0 ? this.arguments.apply(place - 1) : otherwise.apply(one);
    }
  }
}
"""


class _BucketFunction(Proxy):
    """A function as Spark finds it."""

    class Java:
        """py4j's list of interfaces."""

        implements = [_FUNCTIONS + "UnboundFunction"]  # noqa: RUF012

    spelled = "bucket"

    def name(self) -> str:
        """Return its name."""
        return self.spelled

    def description(self) -> str:
        """Say what it gives."""
        return f"sys.{self.spelled}(n, value, …) - which of n buckets has the rows with a key"

    def bind(self, input_type: Any) -> Any:
        """Return what is called with values of these types."""
        schema = self._bridge.python_schema(input_type)
        self._check(schema)
        return _Bound(self._bridge, self.spelled, schema)

    def _check(self, schema: st.StructType) -> None:
        types = [field.dataType for field in schema.fields]
        keys = fields_from_spark(schema)[1:]
        if not keys or types[0] != st.IntegerType() or not self._takes(keys):
            raise UnsupportedError(
                f"sys.{self.spelled} of {', '.join(one.simpleString() for one in types) or '()'}",
                self._advice,
            )

    _advice = (
        "give the number of buckets as INT, then the columns of the bucket key: numbers, texts, "
        "bytes, dates, timestamps and truth values (DECIMAL of up to 18 digits)"
    )

    def _takes(self, keys: Sequence[DataField]) -> bool:
        return has_expression(keys)


class DefaultBucket(_BucketFunction):
    """The function of tables that do not say which: ``bucket-function.type`` = ``default``."""


class ModBucket(_BucketFunction):
    """The function of tables with ``bucket-function.type`` = ``mod``."""

    spelled = "mod_bucket"
    _advice = "give the number of buckets as INT, then one column of type INT or BIGINT"

    def _takes(self, keys: Sequence[DataField]) -> bool:
        return takes_mod([key.type for key in keys])


class HiveBucket(_BucketFunction):
    """The function of tables with ``bucket-function.type`` = ``hive``."""

    spelled = "hive_bucket"
    _advice = (
        "give the number of buckets as INT, then the columns of the bucket key: numbers, texts, "
        "bytes, dates and truth values"
    )

    def _takes(self, keys: Sequence[DataField]) -> bool:
        return all(is_hashable(key.type) for key in keys)


class _Bound(Proxy):
    """A function for some types; a rule replaces each call of it."""

    class Java:
        """py4j's list of interfaces."""

        implements = [_FUNCTIONS + "ScalarFunction"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, name: str, schema: st.StructType) -> None:
        super().__init__(bridge)
        self._name = name
        self._types = [field.dataType for field in schema.fields]

    def name(self) -> str:
        """Return its name."""
        return self._name

    def canonicalName(self) -> str:
        """Return what tells it from other functions."""
        return f"paimon.{self._name}({', '.join(one.simpleString() for one in self._types)})"

    def inputTypes(self) -> Any:
        """Return the types of its arguments."""
        types = [self._bridge.java_type(one) for one in self._types]
        return self._bridge.array("org.apache.spark.sql.types.DataType", types)

    def resultType(self) -> Any:
        """Return the type of its value."""
        return self._bridge.java_type(st.IntegerType())

    def isResultNullable(self) -> bool:
        """Say that there is no value without a number of buckets."""
        return True

    def isDeterministic(self) -> bool:
        """Say that equal values have equal buckets."""
        return True


class _Expressions(Proxy):
    """Writes calls as expressions of Spark's."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function2"]  # noqa: RUF012

    def apply(self, name: str, schema_json: str) -> Any:
        """Return an expression, then the columns that stand in it for the arguments."""
        bridge = self._bridge
        schema = st.StructType.fromJson(json.loads(schema_json))
        nothing = bridge.spark.range(0).select(
            *(functions.lit(None).cast(field.dataType).alias(field.name) for field in schema)
        )
        count, *keys = fields_from_spark(schema)
        buckets = functions.col(count.name)
        if name == ModBucket.spelled:
            value = functions.coalesce(functions.col(keys[0].name), functions.lit(0))
            bucket = functions.pmod(value, buckets).cast("int")
        elif name == HiveBucket.spelled:
            hashed = bridge.java_class(_EXPRESSIONS + "HiveHash")(
                bridge.seq([expression_of(bridge, functions.col(key.name)) for key in keys])
            )
            bucket = column_of(bridge, hashed).bitwiseAND(functions.lit(_POSITIVE)) % buckets
        else:
            bucket = functions.abs(hash_of(bridge, keys) % buckets)
        columns = nothing._jdf.queryExecution().analyzed().output()
        plan = nothing.select(bucket)._jdf.queryExecution().analyzed()
        return columns.prepended(plan.projectList().head().child())


def resolve_bucket_functions(bridge: Bridge) -> None:
    """Let the session, its clones and sessions beside it know what the functions compute."""
    add_analyzer_rule(bridge, _RULE, lambda: new(bridge, _SOURCE, _RULE, _Expressions(bridge)))
