"""Spark's expressions, read in one call.

A call for each node would take longer than most statements.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.rows.expression_trees import Tree

if TYPE_CHECKING:
    from paimonlab.spark.jvm.bridge import Bridge

_SOURCE = """
package org.paimonlab.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BinaryArithmetic;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.CommonExpressionDef;
import org.apache.spark.sql.catalyst.expressions.CommonExpressionRef;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Like;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.UnaryMinus;
import scala.collection.Seq;

/** Expressions as JSON: class, type, detail, children. */
public final class Trees {
  private final List roots;

  public Trees(List roots) { this.roots = roots; }

  private static Object detail(Expression node) {
    if (node instanceof Literal) {
      Object value = ((Literal) node).value();
      return value == null ? null : value.toString();
    }
    if (node instanceof AttributeReference) {
      return Long.toString(((AttributeReference) node).exprId().id());
    }
    if (node instanceof CommonExpressionDef) {
      return ((CommonExpressionDef) node).id().toString();
    }
    if (node instanceof CommonExpressionRef) {
      return ((CommonExpressionRef) node).id().toString();
    }
    if (node instanceof BinaryArithmetic) {
      return ((BinaryArithmetic) node).evalMode().toString();
    }
    if (node instanceof Cast) {
      return ((Cast) node).evalMode().toString();
    }
    if (node instanceof UnaryMinus) {
      return ((UnaryMinus) node).failOnError() ? "ANSI" : "LEGACY";
    }
    if (node instanceof Like) {
      return String.valueOf(((Like) node).escapeChar());
    }
    return null;
  }

  private static List tree(Expression node) {
    List children = new ArrayList();
    Seq given = node.children();
    for (int i = 0; i < given.size(); i++) {
      children.add(tree((Expression) given.apply(i)));
    }
    List found = new ArrayList();
    found.add(node.getClass().getSimpleName());
    found.add(node.dataType().catalogString());
    found.add(detail(node));
    found.add(children);
    return found;
  }

  public String toString() {
    List trees = new ArrayList();
    for (int i = 0; i < this.roots.size(); i++) {
      trees.add(tree((Expression) this.roots.get(i)));
    }
    try {
      return new ObjectMapper().writeValueAsString(trees);
    } catch (com.fasterxml.jackson.core.JsonProcessingException error) {
      throw new IllegalStateException(error);
    }
  }
}
"""


def trees_of(bridge: Bridge, expressions: Sequence[Any]) -> list[Tree]:
    """Read resolved Catalyst expressions."""
    text = new(bridge, _SOURCE, "Trees", bridge.list(expressions)).toString()
    return [Tree.of(parts) for parts in json.loads(str(text))]
