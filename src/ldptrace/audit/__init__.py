"""Trying to break the privacy claim of a plan, with the code that devices run."""

from ldptrace.audit.client import CommandDevice
from ldptrace.audit.verdict import Audit, audit

__all__ = ["Audit", "CommandDevice", "audit"]
