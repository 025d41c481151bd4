"""A write in Spark: rows meet by bucket, executors write files, the driver commits."""
