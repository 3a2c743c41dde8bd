"""Scorecards as pages: plain data in, one self-contained HTML file out."""

from ldptrace.report.page import page

__all__ = ["page"]
