"""The seal of a shuffled report: HPKE (RFC 9180), base mode, one message per key, with DHKEM(P-256, HKDF-SHA256),
HKDF-SHA256 and AES-128-GCM.

    offset  size  field
         0    65  the device's fresh public key, uncompressed
        65     r  the report, encrypted
    65 + r    16  its tag

This module holds what the standard library can do: sizes, what a seal is bound to, the check of a public key, and the
keys that follow from a shared secret. `ldptrace.device.sealing` seals and `ldptrace.curator.opening` opens.
"""

from __future__ import annotations

import hmac

from ldptrace.errors import PlanError

# What stands before the plan's id in everything that a seal is bound to: the protocol's name and its version.
NAME = b"ldptrace\x02"
POINT_BYTES = 65
TAG_BYTES = 16
SEAL_BYTES = POINT_BYTES + TAG_BYTES
WINDOW_BYTES = 4

# The curve P-256: y^2 = x^3 - 3 x + b modulo p; its points have the order `ORDER`.
PRIME = 2**256 - 2**224 + 2**192 + 2**96 - 1
CURVE_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
# The generator of the curve: the public key of the private key 1, which is good for examples only.
GENERATOR = bytes.fromhex(
    "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
)

# Numbers of RFC 9180, section 7: the key encapsulation, the key derivation and the cipher.
_KEM = b"KEM\x00\x10"
_SUITE = b"HPKE\x00\x10\x00\x01\x00\x01"
_BASE = b"\x00"


def sealed_bytes(report: int) -> int:
    """Return the size of a sealed report of this many bytes.

    >>> sealed_bytes(50)
    131
    """
    return report + SEAL_BYTES


def bound_info(plan_id: str) -> bytes:
    """Return what every seal of a plan is bound to (HPKE's `info`): the protocol's name, its version, the plan's id."""
    return NAME + bytes.fromhex(plan_id)


def label_bytes(window: int | None) -> bytes:
    """Return the label that stands outside a seal and is bound to it (HPKE's `aad`): the window, or nothing.

    >>> label_bytes(2913).hex(), label_bytes(None)
    ('00000b61', b'')
    """
    return b"" if window is None else window.to_bytes(WINDOW_BYTES, "big")


def checked_point(data: bytes) -> bytes:
    """Return a public key, or raise `PlanError` if it is not a point of the curve in uncompressed form."""
    x, y = int.from_bytes(data[1:33], "big"), int.from_bytes(data[33:], "big")
    on_curve = max(x, y) < PRIME and (y * y - x**3 + 3 * x - CURVE_B) % PRIME == 0
    if len(data) != POINT_BYTES or data[0] != 4 or not on_curve:
        raise PlanError(
            f"a public key is an uncompressed point of the curve P-256 in {POINT_BYTES} bytes, got {data.hex()}"
        )
    return data


class Schedule:
    """Derives the keys of seals for one recipient and one plan (RFC 9180, sections 4.1 and 5.1)."""

    def __init__(self, public: bytes, info: bytes) -> None:
        self.public = checked_point(public)
        self._context = (
            _BASE + _extract(b"", _SUITE, b"psk_id_hash", b"") + _extract(b"", _SUITE, b"info_hash", info)
        )

    def keys(self, agreed: bytes, point: bytes) -> tuple[bytes, bytes]:
        """Return the key and the nonce that follow from the agreed secret (the x coordinate) and the device's fresh
        public key."""
        shared = _expand(
            _extract(b"", _KEM, b"eae_prk", agreed), _KEM, b"shared_secret", point + self.public, 32
        )
        secret = _extract(shared, _SUITE, b"secret", b"")
        return (
            _expand(secret, _SUITE, b"key", self._context, 16),
            _expand(secret, _SUITE, b"base_nonce", self._context, 12),
        )


def _extract(salt: bytes, suite: bytes, label: bytes, material: bytes) -> bytes:
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + material, "sha256")


def _expand(key: bytes, suite: bytes, label: bytes, info: bytes, size: int) -> bytes:
    """Return at most 32 bytes, so that one block is enough."""
    text = size.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return hmac.digest(key, text + b"\x01", "sha256")[:size]
