"""Papers that go with a release: what was promised, in the forms that registries, officers and catalogues ask for."""

from ldptrace.products.statement.papers import write_statement
from ldptrace.products.statement.promise import Operator, Promise

__all__ = ["Operator", "Promise", "write_statement"]
