"""Partitions: their folders, and the times that their values stand for."""
