from __future__ import annotations

import inspect

from ldptrace import errors


def test_the_drawn_tree_is_the_tree() -> None:
    assert errors.__doc__ is not None
    for name, kind in inspect.getmembers(errors, inspect.isclass):
        if issubclass(kind, errors.LdptraceError):
            assert name in errors.__doc__
    assert issubclass(errors.FormatError, errors.InputError)
    assert issubclass(errors.PlanError, errors.InputError)
    assert not issubclass(errors.ProtocolError, errors.InputError)
