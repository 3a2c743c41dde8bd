"""Trying to break the privacy claim of a plan, with the code that devices run."""

from ldptrace.audit.shuffling import amplified

__all__ = ["amplified"]
