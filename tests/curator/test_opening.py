"""The curator opens what was sealed for its key, its plan and this window, and omits the rest."""

from __future__ import annotations

import pytest
from cryptography.hazmat.bindings._rust import openssl
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from hypothesis import given, settings
from hypothesis import strategies as st

from ldptrace.curator.opening import CuratorKey
from ldptrace.device.sealing import Sealer
from ldptrace.protocol.seals import bound_info, label_bytes

PLAN, OTHER = "ab" * 32, "ac" * 32
KEY = CuratorKey.from_text("1234567890abcdef")
SUITE = Suite(KEM.P256, KDF.HKDF_SHA256, AEAD.AES_128_GCM)


def test_one_bad_seal_does_not_spoil_a_batch() -> None:
    good = Sealer.of_plan(KEY.public, PLAN)
    sealed = [
        good.seal(b"one", 3),
        good.seal(b"another window", 4),
        Sealer.of_plan(KEY.public, OTHER).seal(b"another plan", 3),
        b"",
        b"\x04" + bytes(90),
        Sealer.of_plan(CuratorKey.drawn().public, PLAN).seal(b"another curator", 3),
        good.seal(b"two", 3),
    ]
    assert KEY.opener(PLAN).open_all(sealed, 3) == ([b"one", b"two"], 5)


@pytest.mark.parametrize("window", [None, 0, 2913])
def test_another_library_seals_and_opens(window: int | None) -> None:
    """Of `cryptography`, whose own HPKE takes the additional data in functions for tests only."""
    info, label = bound_info(PLAN), label_bytes(window)
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), KEY.public)
    theirs = openssl.hpke._encrypt_with_aad(SUITE, b"report", public, info, label)
    assert KEY.opener(PLAN).open(theirs, label) == b"report"
    private = ec.derive_private_key(int(KEY.text, 16), ec.SECP256R1())
    ours = Sealer.of_plan(KEY.public, PLAN).seal(b"report", window)
    assert openssl.hpke._decrypt_with_aad(SUITE, ours, private, info, label) == b"report"


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_no_bytes_break_it(sealed: bytes) -> None:
    assert KEY.opener(PLAN).open(sealed, b"") is None


@given(st.integers(0, 98 * 8 - 1))
@settings(max_examples=60, deadline=None)
def test_any_changed_bit_shows(place: int) -> None:
    sealed = bytearray(Sealer.of_plan(KEY.public, PLAN).seal(b"seventeen letters", 1))
    sealed[place // 8] ^= 1 << place % 8
    assert KEY.opener(PLAN).open(bytes(sealed), label_bytes(1)) is None
