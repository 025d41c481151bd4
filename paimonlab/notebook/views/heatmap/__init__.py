"""What partitions and buckets hold."""
