"""The values of an IN of Spark's, however many, in two calls to the JVM.

A call costs a tenth of a millisecond, which a value each would cost. So a small class writes all of
them as texts there.

Spark's filters have ``java.sql`` values unless ``spark.sql.datetime.java8API.enabled``: these are
of the old calendar, in which a day before 1582-10-15, and in some zones a time before 1900, is
another one. What Spark made of it cannot be told, so such values choose no files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.compiled import new

FIRST_DAY = date(1582, 10, 16)
"""From which on a ``java.sql.Date`` is the day that it was in the statement."""
FIRST_INSTANT = datetime(1900, 1, 3, tzinfo=UTC)
"""From which on a ``java.sql.Timestamp`` is the time that it was in the statement."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SOURCE = f"""
package org.paimonlab.spark;

import java.math.BigDecimal;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.sources.In;
import scala.collection.Iterator;

public final class FilterValues {{
  private static final LocalDate FIRST_DAY = LocalDate.parse("{FIRST_DAY}");
  private static final Instant FIRST_INSTANT = Instant.parse("{FIRST_INSTANT:%Y-%m-%dT%H:%M:%SZ}");

  public FilterValues() {{}}

  /** Writes values behind a word for their kind; null: there are too many, or of no one kind. */
  public String[] texts(In filter, int most) {{
    Object[] values = (Object[]) filter.values();
    if (values.length > most) return null;
    String[] all = new String[values.length + 1];
    for (int i = 0; i < values.length; i++) {{
      Object value = values[i];
      String kind = kind(value);
      if (kind == null || (all[0] != null && !all[0].equals(kind))) return null;
      all[0] = kind;
      all[i + 1] = text(value);
    }}
    return all;
  }}

  /** Writes the values of an IN of Catalyst's that are not null. */
  public String[] texts(InSet expression) {{
    ArrayList all = new ArrayList();
    Iterator values = expression.hset().iterator();
    while (values.hasNext()) {{
      Object value = values.next();
      if (value != null) all.add(value.toString());
    }}
    return (String[]) all.toArray(new String[all.size()]);
  }}

  private static String kind(Object value) {{
    if (value instanceof String) return "text";
    if (value instanceof Integer || value instanceof Long) return "number";
    if (value instanceof Short || value instanceof Byte) return "number";
    if (value instanceof Boolean) return "truth";
    if (value instanceof Float || value instanceof Double) return "float";
    if (value instanceof BigDecimal) return "decimal";
    if (value instanceof java.sql.Date) {{
      LocalDate day = ((java.sql.Date) value).toLocalDate();
      return day.isBefore(FIRST_DAY) ? null : "day";
    }}
    if (value instanceof Timestamp) {{
      return ((Timestamp) value).toInstant().isBefore(FIRST_INSTANT) ? null : "instant";
    }}
    if (value instanceof LocalDate) return "day";
    if (value instanceof Instant) return "instant";
    return value instanceof LocalDateTime ? "clock" : null;
  }}

  private static String text(Object value) {{
    if (value instanceof java.sql.Date) return ((java.sql.Date) value).toLocalDate().toString();
    if (value instanceof Timestamp) return micros(((Timestamp) value).toInstant());
    if (value instanceof Instant) return micros((Instant) value);
    return value.toString();
  }}

  private static String micros(Instant moment) {{
    return String.valueOf(moment.getEpochSecond() * 1000000L + moment.getNano() / 1000);
  }}
}}
"""


def listed_values(bridge: Bridge, item: Any, most: int) -> list[Any] | None:
    """Read the values of an ``org.apache.spark.sql.sources.In``.

    Parameters
    ----------
    bridge
        The session.
    item
        The filter.
    most
        How many values are read at all.

    Returns
    -------
    list or None
        Python's values; a FLOAT is the number that its text says. None: there are more, one is
        null, or has no value in Python.
    """
    found = _reader(bridge).texts(item, most)
    if found is None:
        return None
    kind, *texts = bridge.texts(found)
    if not texts:
        return []
    try:
        return [*map(_READERS[kind], texts)]
    except (ValueError, OverflowError):  # a year that Python's calendar does not have
        return None


def texts_in_set(bridge: Bridge, expression: Any) -> list[str]:
    """Read the texts of a Catalyst ``InSet`` that are not null."""
    return [*bridge.texts(_reader(bridge).texts(expression))]


def _reader(bridge: Bridge) -> Any:
    return bridge.once("values of filters", lambda: new(bridge, _SOURCE, "FilterValues"))


def _instant(micros: str) -> datetime:
    return _EPOCH + timedelta(microseconds=int(micros))


_READERS: Mapping[str, Callable[[str], Any]] = {
    "clock": datetime.fromisoformat,
    "day": date.fromisoformat,
    "decimal": Decimal,
    "float": float,
    "instant": _instant,
    "number": int,
    "text": str,
    "truth": "true".__eq__,
}
