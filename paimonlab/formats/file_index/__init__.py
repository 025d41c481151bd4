"""File indexes: what a data file holds, kept beside it, so that readers can leave rows out.

An index file is a container (`container`) of indexes, each of one column and one type: a Bloom
filter (`bloom`), a bitmap for each value (`bitmap`), bit slices of numbers (`bsi`) or of the
ranks of values (`range_bitmap`). All are pure functions between bytes and values.

Source: https://paimon.apache.org/docs/master/concepts/spec/fileindex/ and apache/paimon@1.3.1
``org.apache.paimon.fileindex``.
"""
