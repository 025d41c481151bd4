"""Data that comes in by itself: changes of other systems become rows of tables, exactly once.

Answers which tables a source becomes (a pure plan), when what was read is committed (epochs), and
how far a job came. Sources, decoders of messages and jobs know nothing of notebooks or Spark;
``import paimonlab.ingest`` loads neither.
"""
