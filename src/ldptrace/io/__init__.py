"""Trajectory files: readers, writers and the report of what was read."""

from ldptrace.io.files import read, read_with_report, write
from ldptrace.io.formats import FORMATS, Format
from ldptrace.io.report import ReadReport

__all__ = ["FORMATS", "Format", "ReadReport", "read", "read_with_report", "write"]
