from __future__ import annotations

import base64
import hashlib
from dataclasses import replace

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.server.release_list import Published, list_page, policy
from ldptrace.server.release_page import release_page
from release_kit import CAMPAIGN, card

DAY = 86_400


def test_the_newest_window_comes_first_and_texts_are_escaped() -> None:
    campaign = replace(CAMPAIGN, name="weekly")
    page = list_page(campaign, [Published(2, 7 * DAY, 14 * DAY, 1234), Published(1, 0, 3600, 10)])
    assert "<h1>Trips &lt;in&gt; town</h1>" in page
    assert "Run by The town. Questions: trips@town.example" in page
    assert '<a href="/c/weekly/release/2">1970-01-08 to 1970-01-15</a></td><td class=n>1,234</td>' in page
    assert "1970-01-01 00:00 UTC to 1970-01-01 01:00 UTC" in page
    assert "No window" not in page
    assert "No window has been published yet" in list_page(campaign, [])


def test_the_policy_names_the_style_that_is_in_the_page() -> None:
    page = release_page(CAMPAIGN, card(), {}, Trajectories(np.zeros(2), np.zeros(2), np.array([0, 2])), b"")
    style = page.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}';" in policy(page.encode())
