"""Seal reports for the curator of a shuffled plan, so that the shuffler cannot read them.

Only shuffled plans need the package `cryptography`, which the extra `shuffled` installs.
"""

from __future__ import annotations

from ldptrace.errors import InputError
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.seals import ORDER, Schedule, bound_info, label_bytes


class Sealer:
    """Seals reports for the holder of a private key. `public` is the public key in the plan, `info` what all seals of
    the plan are bound to."""

    def __init__(self, public: bytes, info: bytes) -> None:
        self.schedule = Schedule(public, info)
        try:
            from cryptography.hazmat.primitives.asymmetric import ec
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError:
            raise InputError(
                "a shuffled plan needs the package cryptography; install it with: pip install "
                "'ldptrace-device[shuffled]' or 'ldptrace[shuffled]'"
            ) from None
        self._ec, self._cipher = ec, AESGCM

    @staticmethod
    def of_plan(public: bytes, plan_id: str) -> Sealer:
        return Sealer(public, bound_info(plan_id))

    def seal(self, report: bytes, window: int | None) -> bytes:
        """Return the sealed bytes of a report, for the window that stands outside."""
        return self.seal_with(1 + Source().below(ORDER - 1), report, label_bytes(window))

    def seal_with(self, secret: int, text: bytes, label: bytes) -> bytes:
        """Seal with this secret number from 1 to the order of the curve less one, which is used once."""
        ec = self._ec
        curve = ec.SECP256R1()
        mine = ec.derive_private_key(secret, curve)
        numbers = mine.public_key().public_numbers()
        point = b"\x04" + numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(curve, self.schedule.public)
        key, nonce = self.schedule.keys(mine.exchange(ec.ECDH(), theirs), point)
        return point + bytes(self._cipher(key).encrypt(nonce, text, label))
