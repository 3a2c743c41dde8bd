from __future__ import annotations

import base64
import hashlib

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.server.release_page import release_page
from ldptrace.server.release_style import policy
from release_kit import CAMPAIGN, card


def test_the_policy_names_the_style_that_is_in_the_page() -> None:
    page = release_page(CAMPAIGN, card(), [], Trajectories(np.zeros(2), np.zeros(2), np.array([0, 2])), b"")
    style = page.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}';" in policy(page.encode())
