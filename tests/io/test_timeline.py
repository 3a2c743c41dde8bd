"""Google's timelines: journeys of a phone's export, and of the monthly files of Takeout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ldptrace.errors import NothingUsable
from ldptrace.io.files import read_with_account
from ldptrace.io.reading import Reading

MORNING = 1_746_086_400  # 2025-05-01T08:00:00Z
ANDROID = {
    "semanticSegments": [
        {
            "startTime": "2025-05-01T10:00:00.000+02:00",
            "endTime": "2025-05-01T12:00:00.000+02:00",
            "timelinePath": [
                {"point": "48.1°, 11.5°", "time": "2025-05-01T10:05:00.000+02:00"},
                {"point": "48.2°, 11.6°", "time": "2025-05-01T10:10:00.000+02:00"},
                {"point": "somewhere", "time": "2025-05-01T10:11:00.000+02:00"},
            ],
        },
        {
            "startTime": "2025-05-01T10:01:00.000+02:00",
            "endTime": "2025-05-01T10:12:00.000+02:00",
            "activity": {"start": {"latLng": "48.0°, 11.4°"}, "end": {"latLng": "48.3°, 11.7°"}},
        },
        {
            "startTime": "2025-05-01T10:12:00.000+02:00",
            "endTime": "2025-05-01T18:00:00.000+02:00",
            "visit": {"topCandidate": {"placeLocation": {"latLng": "1.0°, 1.0°"}}},
        },
    ],
    "rawSignals": [],
}
IOS = [
    {
        "endTime": "2025-05-01T10:12:00.000+02:00",
        "startTime": "2025-05-01T10:01:00.000+02:00",
        "activity": {"start": "geo:48.0,11.4", "end": "geo:48.3,11.7"},
    },
    {
        "endTime": "2025-05-01T12:00:00.000+02:00",
        "startTime": "2025-05-01T10:00:00.000+02:00",
        "timelinePath": [
            {"point": "geo:48.1,11.5", "durationMinutesOffsetFromStartTime": "5"},
            {"point": "geo:48.2,11.6", "durationMinutesOffsetFromStartTime": "10"},
            {"point": None, "durationMinutesOffsetFromStartTime": "x"},
        ],
    },
]
TAKEOUT = {
    "timelineObjects": [
        {
            "activitySegment": {
                "startLocation": {"latitudeE7": 480000000, "longitudeE7": 114000000},
                "endLocation": {"latitudeE7": 483000000, "longitudeE7": 117000000},
                "duration": {
                    "startTimestamp": "2025-05-01T08:01:00Z",
                    "endTimestamp": "2025-05-01T08:12:00Z",
                },
                "simplifiedRawPath": {
                    "points": [
                        {"latE7": 481000000, "lngE7": 115000000, "timestamp": "2025-05-01T08:05:00Z"},
                        {"latE7": 482000000, "lngE7": 116000000, "timestamp": "2025-05-01T08:10:00Z"},
                        {"latE7": None, "lngE7": 116000000, "timestamp": "2025-05-01T08:11:00Z"},
                    ]
                },
            }
        },
        {"placeVisit": {"location": {"latitudeE7": 10000000, "longitudeE7": 10000000}}},
    ]
}


@pytest.mark.parametrize("document", [ANDROID, IOS, TAKEOUT], ids=["android", "ios", "takeout"])
def test_journeys_are_read_in_the_order_of_time(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "Timeline.json"
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    found, account = read_with_account(path, Reading(split_gap=1_800))
    assert found.sizes.tolist() == [4]
    assert found.x.tolist() == [11.4, 11.5, 11.6, 11.7]
    assert found.y.tolist() == [48.0, 48.1, 48.2, 48.3]
    assert found.t is not None
    assert (found.t - MORNING).tolist() == [60, 300, 600, 720]
    assert found.crs == "EPSG:4326"
    assert account.dropped_points == {"no latitude and longitude": 1}


@pytest.mark.parametrize(
    "document", [{"semanticSegments": []}, {"timelineObjects": [{}, 1]}, {"rawSignals": 3}]
)
def test_a_timeline_without_journeys_has_nothing_usable(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "Timeline.json"
    path.write_text(json.dumps(document))
    with pytest.raises(NothingUsable, match="no journeys with places in this timeline"):
        read_with_account(path)
