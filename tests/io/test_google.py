from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldptrace.core.reading import Reading
from ldptrace.errors import FormatError, NothingUsable
from ldptrace.io import read
from ldptrace.io.files import read_with_account

MOMENT = 1_714_552_200
ACTIVITY = [{"timestamp": "1999-01-01T00:00:00Z", "activity": [{"type": "STILL", "confidence": 100}]}]


def fix(seconds: float, lon: float, **more: object) -> dict[str, object]:
    moment = f"{np.datetime64(int(MOMENT + seconds), 's')}.250Z"
    return {"latitudeE7": 525163000, "longitudeE7": round(1e7 * lon), "timestamp": moment} | more


def saved(folder: Path, entries: list[object], name: str = "Records.json") -> Path:
    path = folder / name
    path.write_text(json.dumps({"locations": entries}))
    return path


def test_a_log_is_cut_at_its_gaps(tmp_path: Path) -> None:
    entries = [fix(0, 13.1, activity=ACTIVITY, source="GPS"), fix(60, 13.2), fix(7_200, 13.3)]
    path = saved(tmp_path, [*entries, {"timestamp": "2024-05-01T10:00:00Z"}])
    found, account = read_with_account(path, Reading(split_gap=1_800))
    assert found.sizes.tolist() == [2, 1]
    assert found.x.tolist() == [13.1, 13.2, 13.3]
    assert found.y.tolist() == [52.5163] * 3
    assert found.t is not None
    assert found.t.tolist() == [MOMENT + 0.25, MOMENT + 60.25, MOMENT + 7_200.25]
    assert found.crs == "EPSG:4326"
    assert account.dropped_points == {"no latitude and longitude": 1}
    # Both parts are of one person.
    assert found.user is not None


def test_without_a_gap_it_is_one_trajectory_and_says_how_to_cut_it(tmp_path: Path) -> None:
    found, account = read_with_account(saved(tmp_path, [fix(60, 13.2), fix(0, 13.1)]))
    assert found.sizes.tolist() == [2]
    assert found.x.tolist() == [13.1, 13.2]
    assert "points sorted by time" in account.notes
    assert "split_gap (--split-gap)" in account.line()


def test_older_exports_hold_milliseconds_and_lose_signs(tmp_path: Path) -> None:
    south = {"latitudeE7": 2**32 - 338_688_000, "longitudeE7": 2**32 - 700_000_000}
    entry = {**south, "timestampMs": str(1_000 * MOMENT)}
    found, account = read_with_account(saved(tmp_path, [entry], "export.json"), Reading(format="google"))
    assert (found.x.tolist(), found.y.tolist()) == ([-70.0], [-33.8688])
    assert found.t is not None
    assert found.t.tolist() == [MOMENT]
    assert not any("milliseconds" in note for note in account.notes)


@pytest.mark.parametrize(
    ("text", "kind", "match"),
    [
        ('{"latitudeE7": 1', FormatError, "this is not JSON"),
        ('{"a": [{"latitudeE7": 1, "longitudeE7": 1}]}', FormatError, "expected a location history"),
        ('{"locations": []}', NothingUsable, "no fixes with latitudeE7"),
        ('{"locations": [{"latitudeE7": 1}]}', NothingUsable, "no fixes with latitudeE7"),
        ('{"locations": [{"latitudeE7": [], "longitudeE7": 1}]}', NothingUsable, "whole numbers"),
    ],
)
def test_what_is_no_history_is_refused(tmp_path: Path, text: str, kind: type[Exception], match: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(kind, match=match):
        read(tmp_path / "a.json")


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
