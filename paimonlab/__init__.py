"""Apache Paimon tables in Python, on Spark, in notebooks."""
