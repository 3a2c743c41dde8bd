"""Scorecards as pages: plain data in, one self-contained HTML file out."""

from ldptrace.pages.page import attack_page, page, summary
from ldptrace.pages.verdict import best, on_common_scale

__all__ = ["attack_page", "best", "on_common_scale", "page", "summary"]
