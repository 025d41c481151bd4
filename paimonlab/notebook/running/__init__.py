"""Run statements: on Spark, or natively on one table."""
