"""Documents of a release that state its privacy promise, for registries, data-protection officers and data
catalogues."""

from ldptrace.products.statement.papers import write_statement
from ldptrace.products.statement.promise import Operator, Promise

__all__ = ["Operator", "Promise", "write_statement"]
