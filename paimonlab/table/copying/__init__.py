"""``COPY INTO`` as far as no engine matters: options of files, load history, what is answered."""
