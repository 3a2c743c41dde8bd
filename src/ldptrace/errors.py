"""Everything that can go wrong, as one tree.

    LdptraceError
    ├── InputError          what a user gave cannot be used (exit code 2)
    │   ├── FormatError     a file is not what it says it is
    │   │   └── NothingUsable   it is, but no trajectory in it can be used
    │   └── PlanError       a plan is malformed or promises what it does not keep
    └── ProtocolError       bytes from a device or a curator break the protocol

A message says what is wrong, where, what is allowed and what was given, in one sentence.
Warnings that concern the privacy claim are `PrivacyWarning`; a model that does not match its
statistics is a `FitWarning`; data that was omitted is a `DataWarning`; a result that is mostly noise a
`NoiseWarning`.
"""

from __future__ import annotations


class LdptraceError(Exception):
    """Base class of all errors that ldptrace raises."""


class InputError(LdptraceError, ValueError):
    """The error for input that cannot be used. The error message says what is wrong and what is allowed."""


class FormatError(InputError):
    """A file is not in the format its name or `--format` says."""


class NothingUsable(FormatError):
    """A trajectory file whose content cannot be used: none of it, or values that are no numbers.

    Apart from other errors, because a device answers such a file like every other trajectory.
    """


class PlanError(InputError):
    """A plan is malformed, or its parts do not add up to its privacy claim."""


class ProtocolError(LdptraceError, ValueError):
    """A message breaks the wire protocol."""


class PrivacyWarning(UserWarning):
    """Something the user asked for is not eps-LDP, or reads raw data."""


class FitWarning(UserWarning):
    """A fitted model does not match the statistics it was fitted to."""


class DataWarning(UserWarning):
    """Some of the data was omitted or changed before it was used."""


class NoiseWarning(UserWarning):
    """So few users or so little epsilon that the result is mostly noise."""
