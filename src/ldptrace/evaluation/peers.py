"""Methods with a trusted curator, run on the real set at the central epsilon of a synthetic set, to stand beside it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Crowd
from ldptrace.errors import DataWarning, InputError, PrivacyWarning
from ldptrace.io.files import trajectories_of
from ldptrace.methods import method
from ldptrace.protocol.grid import Bounds
from ldptrace.protocol.words import CENTRAL
from ldptrace.synthesis import synthesize


def central_peers(
    names: str,
    real: Any,
    promises: Sequence[Mapping[str, Any] | None],
    bounds: Bounds | None,
    seed: int | None,
) -> dict[str, Trajectories]:
    """Return the synthetic trips of each method, by name. `promises` are those of the synthetic sets: the methods get
    the first epsilon that is stated.
    """
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    recipes = [method(name) for name in wanted]
    local = [recipe.name for recipe in recipes if CENTRAL not in (recipe.leaks or "")]
    if local or not recipes:
        raise InputError(
            f"peers are methods with a trusted curator, such as adatrace,privtrace, got {', '.join(local) or names!r}"
        )
    stated = next((str(each["epsilon"]) for each in promises if each and each.get("epsilon")), None)
    if stated is None:
        raise InputError("peers need a synthetic set that states its epsilon")
    if isinstance(real, Crowd):
        raise InputError("peers need the real trips in memory: give more --memory, or omit --peers")
    trips = trajectories_of(real)
    found = {}
    for name in wanted:
        with warnings.catch_warnings():
            # What the scorecard says of them: they saw every trip, and the bounds may be those of the real set.
            for kind in (PrivacyWarning, DataWarning):
                warnings.simplefilter("ignore", kind)
            found[name] = synthesize(
                trips,
                float(stated),
                bounds=bounds,
                bounds_from_data=bounds is None,
                method=name,
                seed=seed,
                unit="trip",
                outside="clamp",
            )
    return found
