"""What partitions and buckets contain."""
