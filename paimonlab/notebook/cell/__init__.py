"""A cell: from text to statements and their parameters, and what is wrong with it.

Not named ``sql``, as that is a function of the notebook.
"""
