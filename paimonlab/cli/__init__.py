"""The command line: parses arguments, calls one function, prints what it returns.

Answers: how a shell asks. Must not know: the layout of files, notebooks.
"""
