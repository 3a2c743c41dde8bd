"""Trajectory files: readers, writers and the account of what was read."""

from ldptrace.core.reading import Reading
from ldptrace.io.account import Account
from ldptrace.io.files import read, read_with_account, write
from ldptrace.io.formats import FORMATS, Format

__all__ = ["FORMATS", "Account", "Format", "Reading", "read", "read_with_account", "write"]
