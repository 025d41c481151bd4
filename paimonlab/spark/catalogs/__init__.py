"""What Spark's catalog interface asks for: databases, tables, definitions, procedures."""
