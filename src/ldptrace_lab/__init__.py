"""The laboratory beside the product: other people's methods, the paper's experiments, and comparisons of them all.

It imports `ldptrace` and is never imported by it. Its methods and commands reach the product as anybody's would: by the
entry points `ldptrace.methods` and `ldptrace.commands` in `pyproject.toml`.
"""
