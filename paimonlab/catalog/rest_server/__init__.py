"""A server of Paimon's REST protocol over any catalog of this project.

Knows requests and what they mean for a catalog. Must not know files beyond those that a table's
own verbs write.
"""
