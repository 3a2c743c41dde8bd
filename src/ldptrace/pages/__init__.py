"""Scorecards as pages: plain data in, one self-contained HTML file out."""

from ldptrace.pages.page import attack_page, page, summary

__all__ = ["attack_page", "page", "summary"]
