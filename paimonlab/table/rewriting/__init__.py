"""Writing files of a table anew for another layout: other buckets, other indexes of files."""
