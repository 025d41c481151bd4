"""What things look like: values in, HTML, text and Markdown out.

Knows no tables, no Spark and no IPython; nothing else knows what things look like.
"""
