"""Python's side of the JVM: values, callbacks, expressions, errors on their way through."""
