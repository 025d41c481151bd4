"""What ANALYZE found out about columns, for Spark's optimizer: a part of `choosing` in Java.

Spark asks for it where ``spark.sql.cbo.enabled`` or ``spark.sql.cbo.planStats.enabled`` is set. A
relation tells it by the entry of a catalog, so that is what the rule puts beside it.

Source: apache/spark@v4.2.0 and v4.3.0 ``CatalogStatistics``, ``CatalogColumnStat``,
``LogicalRelation.computeStats``, ``FilterEstimation``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, TypeAlias

from paimonlab.metadata.statistics import StatisticsStore
from paimonlab.spark.reading.file_index import SnapshotFileIndex
from paimonlab.spark.reading.scan import has_masks
from paimonlab.spec.predicates.predicate import AlwaysTrue
from paimonlab.spec.types.data_types import AtomicType, TypeRoot

if TYPE_CHECKING:
    from paimonlab.spark.reading.file_shape import ShapeColumn
    from paimonlab.spec.statistics.table import ColumnStatistics, Statistics

Texts: TypeAlias = list[str | None]
"""Of a column: name, distinct values, least and greatest, nulls, average and greatest length."""

KNOWING = """\
  /** Tells the optimizer what is known of the columns of a scan. */
  public static final class Knowing extends AbstractPartialFunction {
    private final Function4 ask;

    public Knowing(Function4 ask) { this.ask = ask; }

    static boolean isAsked() {
      SQLConf conf = SQLConf.get();
      return conf.cboEnabled() || conf.planStatsEnabled();
    }

    public boolean isDefinedAt(Object plan) {
      return index(plan) != null && ((LogicalRelation) plan).catalogTable().isEmpty();
    }

    public Object applyOrElse(Object plan, Function1 otherwise) {
      if (!this.isDefinedAt(plan)) return otherwise.apply(plan);
      LogicalRelation relation = (LogicalRelation) plan;
      Integer code = Integer.valueOf(index(plan).hashCode());
      Object told = this.ask.apply("columns", code, seq(new ArrayList()), Long.valueOf(-1L));
      if (told == null) return plan;
      String[][] texts = (String[][]) told;
      CatalogTable entry = entry(texts[0][2], relation.schema(), statistics(texts));
      return relation.copy(relation.relation(), relation.output(), Option.apply(entry),
          relation.isStreaming(), relation.stream());
    }

    private static Option number(String text) {
      return Option.apply(text == null ? null : BigInt.apply(text));
    }

    private static Option length(String text) {
      return Option.apply(text == null ? null : Long.valueOf(text));
    }

    private static CatalogStatistics statistics(String[][] told) {
      HashMap columns = new HashMap();
      for (int i = 1; i < told.length; i++) {
        String[] one = told[i];
        columns.put(one[0], new CatalogColumnStat(number(one[1]), Option.apply(one[2]),
            Option.apply(one[3]), number(one[4]), length(one[5]), length(one[6]),
            Option.empty(), CatalogColumnStat.VERSION()));
      }
      return new CatalogStatistics(BigInt.apply(told[0][0]), number(told[0][1]),
          scala.collection.immutable.Map.from(CollectionConverters.asScala(columns)));
    }

    /** Makes the entry; releases of Spark differ in what else there is to say. */
    private static CatalogTable entry(String name, StructType schema, CatalogStatistics known) {
      try {
        Constructor made = CatalogTable.class.getConstructors()[0];
        Object[] values = new Object[made.getParameterCount()];
        Object[] first = {TableIdentifier.apply(name), CatalogTableType.EXTERNAL(),
            CatalogStorageFormat.empty(), schema};
        for (int i = 0; i < values.length; i++) {
          values[i] = i < first.length ? first[i] : CatalogTable.class.getMethod(
              "$lessinit$greater$default$" + (i + 1)).invoke(null);
        }
        Product blank = (Product) made.newInstance(values);
        for (int i = 0; i < values.length; i++) {
          if (blank.productElementName(i).equals("stats")) values[i] = Option.apply(known);
        }
        return (CatalogTable) made.newInstance(values);
      } catch (ReflectiveOperationException error) {
        throw new IllegalStateException(error);
      }
    }
  }
"""


def known_columns(index: SnapshotFileIndex) -> Any:
    """Return what ANALYZE found out, as ``String[][]``; None: nothing.

    The first row has the size in bytes, the number of rows and the table's name, the others are
    `Texts`. Rows are those of the files that the scan reads.
    """
    scan = index._snapshot.scan
    snapshot = scan.snapshot
    if snapshot is None or snapshot.statistics is None:
        return None
    files = StatisticsStore(scan.store.file_io, scan.store.layout)
    found = files.read(snapshot.statistics, referrer=snapshot.file_name)
    rows, all_rows = _rows(index, found)
    whole = [str(index.sizeInBytes()), str(rows), scan.definition.name]
    told = [whole, *_columns(index, found, rows, all_rows)]
    return index._bridge.from_json("[[Ljava.lang.String;", json.dumps(told))


def _rows(index: SnapshotFileIndex, found: Statistics) -> tuple[int, int]:
    """Return about how many rows the scan reads, and the table has."""
    splits = index._splits(AlwaysTrue(), index._choice.rows)
    own = [sum(file.row_count for file in index._own(split)) for split in splits]
    plain = sum(count for count, split in zip(own, splits, strict=True) if not has_masks(split))
    stored = sum(split.row_count for split in index._snapshot.plan.splits)
    if not any(map(has_masks, splits)) or found.merged_record_count is None:
        return sum(own), stored
    merged = min(found.merged_record_count, stored)
    return max(plain, sum(own) * merged // max(stored, 1)), merged


def _columns(
    index: SnapshotFileIndex, found: Statistics, rows: int, all_rows: int
) -> Iterator[Texts]:
    chosen = _of_partitions(index) if index._choice.rows is not None else {}
    for column in index._shape:
        known = found.columns.get(column.name)
        if known is None or column.conversion is None or column.type != column.file_type:
            continue
        texts = chosen.get(column.name) or _texts(column, known, rows, all_rows)
        if texts is not None:
            yield texts


def _texts(column: ShapeColumn, known: ColumnStatistics, rows: int, all_rows: int) -> Texts | None:
    """Return what is known of a column; None: too little, which Spark would take for no rows."""
    if known.distinct_count is None or known.null_count is None:
        return None
    lengths = [
        None if length is None else str(length)
        for length in (known.average_length, known.max_length)
    ]
    if not isinstance(column.type, AtomicType):
        return None
    low = high = None
    if column.type.root not in _WITHOUT_BOUNDS:
        check = _BOUNDS.get(column.type.root)
        is_empty = known.distinct_count == 0
        if check is None or not (is_empty or _are_fine(check, known)):
            return None
        low, high = known.min, known.max
    nulls = min(known.null_count * rows // max(all_rows, 1), rows)
    return [column.file_name, str(min(known.distinct_count, rows)), low, high, str(nulls), *lengths]


def _are_fine(check: Callable[[str], object], known: ColumnStatistics) -> bool:
    """Say whether Spark can read both bounds: others may have written them otherwise."""
    if known.min is None or known.max is None:
        return False
    try:
        return check(known.min) is not None and check(known.max) is not None
    except (ValueError, InvalidOperation):
        return False


def _of_partitions(index: SnapshotFileIndex) -> dict[str, Texts]:
    """Describe the partition columns by the partitions that the scan reads."""
    described: dict[str, Texts] = {}
    schema = index._snapshot.scan.schema
    numbers = sorted(index._choice.rows or ())
    for place, name in enumerate(schema.partition_keys):
        field = schema.field(name)
        if not isinstance(field.type, AtomicType):
            continue
        values = {text for number in numbers if (text := index._rows.texts[number][place])}
        low = high = None
        if field.type.root in _WHOLE and values:
            low, high = (str(end(map(int, values))) for end in (min, max))
        elif field.type.root is TypeRoot.DATE and values:
            days = [timedelta(int(value)) for value in values]
            low, high = ((date(1970, 1, 1) + end(days)).isoformat() for end in (min, max))
        elif field.type.root not in _WITHOUT_BOUNDS:
            continue
        length = str(max((len(value.encode()) for value in values), default=0))
        described[name] = [name, str(len(values)), low, high, "0", length, length]
    return described


_WHOLE = frozenset({TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT})
_WITHOUT_BOUNDS = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY})
"""Types of which Spark knows no least and greatest value."""
_BOUNDS: Mapping[TypeRoot, Callable[[str], object]] = {
    **dict.fromkeys(_WHOLE, int),
    TypeRoot.DECIMAL: Decimal,
    TypeRoot.FLOAT: float,
    TypeRoot.DOUBLE: float,
    TypeRoot.DATE: date.fromisoformat,
}
