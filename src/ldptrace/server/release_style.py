"""The style of a release's page, and how a content security policy names it. Nothing heavy is loaded for this."""

from __future__ import annotations

import base64
import hashlib

STYLE = """
:root { color-scheme: light dark; --ground: #fbfaf8; --card: #fff; --ink: #1d2327; --soft: #5b6670; --line: #d9dcdf;
  --street: #c3c9cf; --track: #c2410c; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181b; --card: #1c2226; --ink: #e8ebed; --soft: #a3adb5;
  --line: #384148; --street: #46515a; --track: #fb923c; } }
body { margin: 0 auto; max-width: 52rem; padding: 1rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: .5rem 0; } h2 { font-size: 1.15rem; margin: 1.6rem 0 .4rem; }
.soft, figcaption { color: var(--soft); } figcaption { font-size: .88rem; } figure { margin: 1rem 0; }
svg { display: block; width: 100%; height: auto; border: 1px solid var(--line); border-radius: .4rem;
  background: var(--card); }
.street { stroke: var(--street); fill: none; }
.trip { stroke: var(--track); fill: none; stroke-opacity: .25; stroke-width: 1.5; }
a { color: var(--track); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); font-weight: normal; }
th { color: var(--soft); } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
code { overflow-wrap: anywhere; } td code { white-space: nowrap; } summary { cursor: pointer; color: var(--track); }
@media (max-width: 32rem) { .files tr:first-child { display: none; } .files tr, .files td { display: block; }
  .files td:first-child { border: 0; padding-bottom: 0; } }
"""


def policy(page: bytes) -> str:
    """The content security policy of a page that was made here: its own style, which an earlier version may have made.

    >>> policy(b"<style>p {}</style>").split(";")[0]
    "default-src 'none'"
    """
    style = page.partition(b"<style>")[2].partition(b"</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style).digest()).decode()
    style_policy = f"style-src 'sha256-{digest}'; style-src-attr 'unsafe-inline'"
    return f"default-src 'none'; {style_policy}; base-uri 'self'; frame-ancestors 'none'"
