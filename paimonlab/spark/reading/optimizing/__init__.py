"""What Spark's optimizer learns of tables."""
