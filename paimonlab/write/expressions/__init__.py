"""SQL expressions over the columns of rows, evaluated as whole columns.

Answers what new value an update gives a column. The meaning is Spark's with ANSI mode on: three
truth values, decimals that widen, an error where a number overflows or a text is not a number.
"""
