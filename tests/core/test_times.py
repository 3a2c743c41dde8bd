from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.times import iso, read_times, to_local, to_utc, zone, zone_words
from ldptrace.errors import InputError, NothingUsable

SUMMER, WINTER = 1_720_000_000.0, 1_700_000_000.0


def test_clocks_of_a_zone_follow_the_seasons() -> None:
    t = np.array([SUMMER, WINTER])
    local = to_local(t, "Europe/Berlin")
    assert (local - t).tolist() == [7200, 3600]
    np.testing.assert_array_equal(to_utc(local, "Europe/Berlin"), t)
    assert to_local(t, None) is t


def test_times_of_the_day_have_no_zone() -> None:
    t = np.array([3600.0, 100_000.0])
    assert to_local(t, "Asia/Tokyo") is t


def test_half_hours_and_missing_times() -> None:
    t = np.array([WINTER, np.nan])
    local = to_local(t, "Asia/Kathmandu")
    assert local[0] - t[0] == 5.75 * 3600
    assert np.isnan(local[1])


@pytest.mark.parametrize(
    ("value", "unit"),
    [(1.7e9, None), (1.7e12, "milliseconds"), (1.7e15, "microseconds"), (1.7e18, "nanoseconds"), (5.0, None)],
)
def test_the_unit_of_large_numbers(value: float, unit: str | None) -> None:
    found = read_times(pa.chunked_array([[value, None, 60.0]]))
    assert found.seconds is not None
    np.testing.assert_equal(found.seconds, [5.0 if value == 5 else 1.7e9, np.nan, 60.0])
    assert found.notes == (() if unit is None else (f"times read as {unit} since 1970",))


def test_a_date_that_cannot_be() -> None:
    assert iso(1e15) is None
    assert iso(WINTER, "Asia/Tokyo") == "2023-11-15T07:13:20+09:00"
    with pytest.raises(InputError, match="no time zone"):
        iso(WINTER, "../etc/passwd")


# Half past eight on the first of May 2024, in UTC.
MOMENT = 1_714_552_200.0


def seconds(values: list[object], zone: str | None = None) -> list[float] | None:
    found = read_times(pa.chunked_array([values]), zone).seconds
    return None if found is None else found.tolist()


@pytest.mark.parametrize(
    "value",
    [
        "2024-05-01T08:30:00Z",
        "2024-05-01T10:30:00+02:00",
        "2024-05-01 08:30:00",
        "2024/05/01 08:30:00",
        "2024/05/01 08:30",
        "01.05.2024 08:30:00",
        "05/01/2024 08:30:00 AM",
        "Wed May 01 08:30:00 +0000 2024",
        "1714552200",
        "1.7145522e9",
        1_714_552_200,
        1_714_552_200_000,
        1_714_552_200_000_000,
        20_240_501_083_000,
        datetime(2024, 5, 1, 8, 30),
        datetime(2024, 5, 1, 8, 30, tzinfo=UTC),
    ],
)
def test_one_moment_in_many_spellings(value: object) -> None:
    assert seconds([value, None, value]) == pytest.approx([MOMENT, np.nan, MOMENT], nan_ok=True)


@given(st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1)), st.integers(-12 * 60, 14 * 60))
def test_every_date_with_a_zone_is_the_moment_that_it_says(moment: datetime, minutes: int) -> None:
    zoned = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert seconds([zoned.isoformat()]) == pytest.approx([zoned.timestamp()], abs=1e-5)


def test_a_zone_counts_only_where_the_text_says_none() -> None:
    assert seconds(["2024-05-01T08:30:00"], "Asia/Tokyo") == [MOMENT - 9 * 3600]
    assert seconds(["2024-05-01T08:30:00Z"], "Asia/Tokyo") == [MOMENT]
    # Numbers since 1970 are in UTC wherever they were written.
    assert seconds([1_714_552_200], "Asia/Tokyo") == [MOMENT]


def test_clocks_without_a_day_are_seconds_of_the_day() -> None:
    assert seconds(["08:30", "23:59:59.5"]) == [30_600.0, 86_399.5]
    assert seconds([time(8, 30)]) == [30_600.0]
    day = pa.chunked_array([["2024-05-01"]])
    assert read_times(pa.chunked_array([["08:30:00"]]), None, day).seconds == pytest.approx([MOMENT])


def test_days_without_a_clock_are_said_to_be_days() -> None:
    for value in ("2024-05-01", date(2024, 5, 1), 20_240_501):
        found = read_times(pa.chunked_array([[value]]))
        assert found.seconds is not None
        assert found.seconds.tolist() == [1_714_521_600.0]
        assert found.notes == ("the times are days, without a time of the day",)


def test_an_option_says_whether_the_day_or_the_month_is_first() -> None:
    column = pa.chunked_array([["01/05/2024 10:00", "02/05/2024 10:00:30", "3/5/2024"]])
    day = read_times(column)
    assert day.seconds is not None
    assert np.diff(day.seconds).tolist() == [86_430.0, 50_370.0]
    assert day.notes == ("dates such as 01/05/2024 10:00 read as day first",)
    month = read_times(column, month_first=True)
    assert month.seconds is not None
    assert iso(month.seconds[1]) == "2024-02-05T10:00:30+00:00"
    with pytest.raises(NothingUsable, match="--month-first"):
        read_times(pa.chunked_array([["05/13/2024 10:00", "05/14/2024 10:00", "05/01/2024 10:00"]]))


@pytest.mark.parametrize("value", ["noon", "2024-05-01 noon", "2024-02-31T08:00", "32/01/2024 08:00"])
def test_what_is_not_understood_is_no_time(value: str) -> None:
    """It takes no time from the others."""
    found = read_times(pa.chunked_array([["2024-05-01T08:30:00Z", "01/05/2024 08:30", "08:30", None, value]]))
    assert found.seconds is not None
    np.testing.assert_equal(found.seconds, [MOMENT, MOMENT, 30_600.0, np.nan, np.nan])
    assert found.unread == 1


def test_a_column_of_another_type_has_no_times() -> None:
    found = read_times(pa.chunked_array([[True, None]])).seconds
    assert found is not None
    assert np.isnan(found).tolist() == [True, True]


WRITTEN = (
    *(
        "2024-05-01T08:30:00Z",
        "2024-05-01T10:30:00+02:00",
        "2024-05-01 08:30:00",
        "2024-05-01",
        "noon",
        "",
        None,
    ),
    *(
        "2024/05/01 08:30",
        "01.05.2024 08:30:00",
        "05/01/2024 08:30:00 AM",
        "01/05/2024 08:30",
        "08:30",
        "1714552200",
    ),
    *(
        "1714552200000",
        "1e400",
        "nan",
        "20240501",
        "20240501083000",
        "20240501T083000",
        "2024-05-01T08:30:00.25",
    ),
    *(
        "Wed May 01 08:30:00 +0000 2024",
        "2024-05-01T08:30:00.123456789Z",
        "2024-05-01 08:30:00 +02:00",
        "7.5",
    ),
)


@given(st.lists(st.sampled_from(WRITTEN), min_size=1, max_size=6), st.sampled_from(WRITTEN))
def test_no_text_changes_how_another_one_is_read(texts: list[str | None], other: str | None) -> None:
    alone = read_times(pa.chunked_array([pa.array(texts, pa.string())]), "Asia/Tokyo").seconds
    beside = read_times(pa.chunked_array([pa.array([*texts, other], pa.string())]), "Asia/Tokyo").seconds
    assert alone is not None
    assert beside is not None
    np.testing.assert_equal(beside[:-1], alone)


@given(
    st.lists(st.floats() | st.integers(-(10**19), 10**19).map(float), min_size=1, max_size=4),
    st.sampled_from([0.0, 5e4, 2e5, 1.7e9, 1.7e12, 1.7e15, 1.7e18, 20240501.0, np.nan, np.inf]),
)
def test_no_number_changes_how_another_one_is_read(numbers: list[float], other: float) -> None:
    alone = read_times(pa.chunked_array([numbers]), "Asia/Tokyo").seconds
    beside = read_times(pa.chunked_array([[*numbers, other]]), "Asia/Tokyo").seconds
    assert alone is not None
    assert beside is not None
    np.testing.assert_equal(beside[:-1], alone)
    np.testing.assert_equal(to_local(beside, "Asia/Tokyo")[:-1], to_local(alone, "Asia/Tokyo"))
    np.testing.assert_equal(to_utc(beside, "Asia/Tokyo")[:-1], to_utc(alone, "Asia/Tokyo"))


@pytest.mark.parametrize("local", ["2024-05-01T10:30:00", "01.05.2024 10:30", "20240501T103000"])
def test_times_without_a_zone_beside_others_are_on_the_clocks_of_the_place(local: str) -> None:
    column = pa.chunked_array([["2024-05-01T08:30:00Z", local, None, "2024-05-01T09:30+01:00", local]])
    found = read_times(column, "Europe/Berlin")
    assert found.seconds is not None
    np.testing.assert_equal(found.seconds, [MOMENT, MOMENT, np.nan, MOMENT, MOMENT])
    assert found.unzoned == 2
    assert read_times(column[:1], "Europe/Berlin").unzoned == 0


def test_a_column_of_nothing_has_no_times() -> None:
    found = seconds(["", " ", None])
    assert found is not None
    assert np.isnan(found).all()


def test_zones_are_named_or_are_so_far_ahead_of_utc() -> None:
    noon = np.array([1_714_564_800.0])
    assert (to_local(noon, "+05:30") - noon).tolist() == [5.5 * 3600]
    for name in ("+5", "Mars/Base", "+25:00"):
        with pytest.raises(InputError, match="there is no time zone"):
            zone(name)


def test_the_sentence_about_hours_says_what_is_assumed() -> None:
    assert zone_words("Asia/Tokyo", dates=True) == zone_words("Asia/Tokyo", dates=False)
    assert "UTC, which is assumed" in zone_words(None, dates=True)
    assert "--timezone" in zone_words(None, dates=True)
    assert "--timezone" not in zone_words(None, dates=False)
