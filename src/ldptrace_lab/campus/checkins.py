"""Check-ins of people at venues, as in the public data of Foursquare: one row per user, venue and time.

Each day of a user is a trajectory, and the venues are a public table of places. The file has no coarse categories and
no opening hours; both are chosen by words in the category of the venue.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from ldptrace.core.arrays import Floats, Ints, Ints32
from ldptrace.core.crs import WGS84
from ldptrace.core.reading import Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.values import pc
from ldptrace.errors import FormatError
from ldptrace.io.account import Account, Parsed
from ldptrace.io.formats import Format
from ldptrace.roads.readers.folder import need
from ldptrace_lab.campus.pois import DAY, Pois, Visits

NAMES = {
    "user": ("userid", "user"),
    "venue": ("venueid", "venue", "placeid"),
    "lat": ("latitude", "lat"),
    "lon": ("longitude", "lon", "lng"),
    "time": ("utctime", "utctimestamp", "timestamp"),
    "zone": ("timezone", "timezoneoffset"),
    # The public subsets print the category's name under "Venue Name"; the full files under "venueCategory".
    "category": ("venuename", "venuecategoryname", "venuecategory", "category"),
}

# Coarse kinds: words in the category's name, and usual opening hours. The first kind that matches counts.
KINDS: tuple[tuple[str, str, tuple[float, float]], ...] = (
    ("home", "home|resident|housing|apartment", (0, 24)),
    ("study", "college|university|school|student|librar|academic|frat", (6, 24)),
    (
        "travel",
        "station|subway|airport|bus|train|ferry|hotel|hostel|road|bridge|travel|taxi|parking|platform|rail|pier"
        "|harbor|tunnel|gate|rest area|moving target",
        (0, 24),
    ),
    ("night", r"\bbar\b|pub|nightclub|nightlife|lounge|brewery|club|karaoke|sake|speakeasy|winery", (11, 30)),
    (
        "food",
        "restaurant|joint|pizza|burrito|sandwich|caf|coffee|baker|diner|deli|food|donut|bagel|steak|ice cream"
        "|dessert|tea|breakfast|noodle|sushi|ramen|bbq|salad|taco|cupcake|fish|soup|snack|cheese|juice",
        (6, 26),
    ),
    (
        "art",
        "theat|museum|movie|music|galler|stadium|arcade|entertainment|casino|zoo|histor|concert|aquarium"
        "|bowling|arts|landmark|racetrack|temple|shrine|church|synagogue|mosque|spiritual|planetarium|castle",
        (6, 26),
    ),
    (
        "shop",
        "store|shop|mall|market|boutique|salon|drugstore|bank|laundry|gas|garage|spa|tattoo|rental|dealer"
        "|bodega|cosmetic|services|car wash",
        (7, 24),
    ),
    (
        "outdoors",
        "park|plaza|beach|garden|gym|field|outdoors|neighbo|playground|trail|river|athletic|pool|scenic"
        "|sculpture|cemetery|campground|ski|surf|city|sport|lake|mountain|farm",
        (0, 24),
    ),
    ("work", "", (0, 24)),
)


def coarse_category(name: str) -> str:
    """Return the category as a path in the tree of categories.

    >>> coarse_category("Coffee Shop"), coarse_category("Train Station"), coarse_category("Office")
    ('food/Coffee Shop', 'travel/Train Station', 'work/Office')
    """
    words = name.lower()
    kind = next(kind for kind, pattern, _ in KINDS if re.search(pattern, words))
    return f"{kind}/{re.sub(' */ *', ' or ', name)}"


def read_checkins(path: str | Path) -> tuple[Pois, Trajectories]:
    """Read the places of a file of check-ins, and the days of users as trajectories with their visits (`Visits.of`). A
    repeated check-in at the same place is omitted.

    Times are local, in seconds after midnight. The popularity of every place is 1, because the number of visits is
    private.
    """
    table = pacsv.read_csv(path)
    columns = {key: table[need(table, names, path)] for key, names in NAMES.items()}
    seconds = _local_seconds(columns["time"], columns["zone"], path)
    venue = columns["venue"].combine_chunks().dictionary_encode()
    place = venue.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    _, first = np.unique(place, return_index=True)
    lon, lat = (columns[name].to_numpy().astype(np.float64) for name in ("lon", "lat"))
    kinds = [coarse_category(str(name)) for name in columns["category"].take(pa.array(first)).to_pylist()]
    hours = {name: next(span for kind, _, span in KINDS if kind == name.split("/")[0]) for name in set(kinds)}
    names = [str(name) for name in venue.dictionary.to_pylist()]
    pois = Pois.build(lon[first], lat[first], kinds, hours, names, crs=WGS84)
    user = columns["user"].combine_chunks().dictionary_encode()
    whose = user.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return pois, _days(pois, whose, place, seconds)


def read(files: Sequence[Path], _reading: Reading) -> Parsed:
    """Read the days of users from a single file, because places are numbered within their file."""
    if len(files) > 1:
        raise FormatError(f"check-ins are read from one file at a time, got {len(files)}")
    _, days = read_checkins(files[0])
    return days, Account(rows=len(days))


FORMAT = Format("checkins", (), "ldptrace_lab.campus.checkins:read", geographic=True)


def _days(pois: Pois, user: Ints, place: Ints32, seconds: Floats) -> Trajectories:
    order = np.lexsort((seconds, user))
    user, place, seconds = user[order], place[order], seconds[order]
    day = np.floor(seconds / DAY)
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (user[1:] != user[:-1]) | (day[1:] != day[:-1])
    again = np.zeros(len(order), dtype=bool)
    again[1:] = ~begins[1:] & ((place[1:] == place[:-1]) | (seconds[1:] == seconds[:-1]))
    offsets = np.append(np.cumsum(~again)[begins] - 1, np.count_nonzero(~again)).astype(np.int64)
    place, t = place[~again], (seconds - day * DAY)[~again]
    extra = Visits(place, t, offsets).to_arrow()
    extra = extra.append_column("user", pa.array(user[begins]))
    return Trajectories(pois.x[place], pois.y[place], offsets, t=t, crs=pois.crs, extra=extra, user="user")


def _local_seconds(time: pa.ChunkedArray, zone: pa.ChunkedArray, path: str | Path) -> Floats:
    """Return the local seconds since 1970, from times like "Sat May 19 20:38:26 +0000 2012" and minutes of the zone."""
    try:
        parts = pc.binary_join_element_wise(
            pc.utf8_slice_codeunits(time, 26, 30), pc.utf8_slice_codeunits(time, 4, 19), " "
        )
        stamps = pc.strptime(parts, format="%Y %b %d %H:%M:%S", unit="s")
        utc = pc.cast(stamps, pa.int64()).to_numpy()
        return np.asarray(utc + 60.0 * zone.to_numpy())
    except pa.ArrowInvalid:
        raise FormatError(f"{path}: times must look like 'Sat May 19 20:38:26 +0000 2012'") from None
