"""Mobility models: the paper's Markov chain and the calibrated path model, each to fit, sample, save and load."""

from __future__ import annotations

from pathlib import Path

from ldptrace.core.area import Area
from ldptrace.curator.estimates import Estimates
from ldptrace.errors import FormatError, InputError
from ldptrace.models.base import LatticeModel, MobilityModel, read_model
from ldptrace.models.markov import MarkovModel
from ldptrace.models.path.model import PathModel

MODELS: dict[str, type[MobilityModel]] = {model.kind: model for model in (MarkovModel, PathModel)}


def fit_model(estimates: Estimates, area: Area | None = None) -> MobilityModel:
    """The model that goes with what was asked: the paper's chain for its questions, the path model otherwise.

    The path model keeps to a public `area`; the paper's chain knows none.
    """
    if {"steps", "combined-steps"} & set(estimates):
        if area is not None:
            raise InputError(
                "the paper's model cannot keep to an area; make the plan for one report per user"
            )
        return MarkovModel.fit(estimates)
    return PathModel.fit(estimates, area)


def load_model(path: str | Path) -> MobilityModel:
    """The model in a file, whatever its kind."""
    kind = read_model(path)[0].get("model")
    if kind not in MODELS:
        raise FormatError(
            f"{path} holds a model of unknown kind {kind!r}; known are {', '.join(sorted(MODELS))}"
        )
    return MODELS[kind].load(path)


__all__ = ["MODELS", "LatticeModel", "MarkovModel", "MobilityModel", "PathModel", "fit_model", "load_model"]
