"""What compaction and expiry would do to a table, and what they did."""
