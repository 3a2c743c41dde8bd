"""Documents of a release that state its privacy promise, for registries, data-protection officers and data
catalogues."""

from ldptrace.products.statement.papers import Operator, Promise, write_statement

__all__ = ["Operator", "Promise", "write_statement"]
