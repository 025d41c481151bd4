"""What users do with a table: checks of arguments and explanations; the work is done elsewhere.

Each function is a method of `Table`; it loads what it takes when it is called first.
"""
