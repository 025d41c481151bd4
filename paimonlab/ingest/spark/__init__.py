"""Jobs that run on Spark: executors read the parts of a source and write the files of tables.

Nothing else of `paimonlab.ingest` knows Spark, and nothing imports this before a job runs there.
"""
