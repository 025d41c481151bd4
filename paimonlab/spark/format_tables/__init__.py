"""Format tables in Spark: our reader and writer on executors, partitions, definitions."""
