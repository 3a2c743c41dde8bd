"""Open sealed reports with the curator's private key, which no other program has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ldptrace.core.extras import needed
from ldptrace.errors import InputError
from ldptrace.protocol.seals import ORDER, POINT_BYTES, SEAL_BYTES, Schedule, bound_info, label_bytes


class CuratorKey:
    """The curator's private key of one plan. Its text is 64 hexadecimal digits.

    >>> key = CuratorKey.drawn()
    >>> CuratorKey.from_text(key.text).public == key.public
    True
    """

    def __init__(self, key: Any) -> None:
        self._key = key

    @staticmethod
    def drawn() -> CuratorKey:
        """Draw a new key."""
        ec = _ec()
        return CuratorKey(ec.generate_private_key(ec.SECP256R1()))

    @staticmethod
    def from_text(text: str) -> CuratorKey:
        """Return the key that `text` stands for."""
        ec = _ec()
        text = text.strip()
        if not re.fullmatch("[0-9a-fA-F]{1,64}", text) or not 0 < int(text, 16) < ORDER:
            raise InputError(
                "a private key is a number of at most 64 hexadecimal digits, above 0 and below the curve's order"
            )
        return CuratorKey(ec.derive_private_key(int(text, 16), ec.SECP256R1()))

    @property
    def text(self) -> str:
        return f"{self._key.private_numbers().private_value:064x}"

    @property
    def public(self) -> bytes:
        """The public key, as it stands in the plan."""
        numbers = self._key.public_key().public_numbers()
        return b"\x04" + bytes(numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big"))

    def opener(self, plan_id: str) -> Opener:
        """Return what opens the seals of a plan."""
        return Opener(self, bound_info(plan_id))

    def agreed(self, point: bytes) -> bytes:
        """Return the secret shared with the holder of another key. A `point` that is no public key is a ValueError."""
        ec = _ec()
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
        return bytes(self._key.exchange(ec.ECDH(), theirs))


class Opener:
    """Opens the seals of one plan."""

    def __init__(self, key: CuratorKey, info: bytes) -> None:
        self._key = key
        self._schedule = Schedule(key.public, info)
        self._cipher = needed("cryptography.hazmat.primitives.ciphers.aead", "shuffled").AESGCM
        self._broken = needed("cryptography.exceptions", "shuffled").InvalidTag

    def open(self, sealed: bytes, label: bytes) -> bytes | None:
        """Return the report in a seal, or None if it was sealed for another key, plan or label, or was changed."""
        if len(sealed) < SEAL_BYTES or sealed[0] != 4:
            return None
        point = sealed[:POINT_BYTES]
        try:
            key, nonce = self._schedule.keys(self._key.agreed(point), point)
            return bytes(self._cipher(key).decrypt(nonce, sealed[POINT_BYTES:], label))
        except (ValueError, self._broken):
            return None

    def open_all(self, sealed: Iterable[bytes], window: int | None) -> tuple[list[bytes], int]:
        """Return the reports of a batch in their order, and the number of seals that cannot be opened."""
        label = label_bytes(window)
        opened = [self.open(one, label) for one in sealed]
        reports = [report for report in opened if report is not None]
        return reports, len(opened) - len(reports)


def _ec() -> Any:
    return needed("cryptography.hazmat.primitives.asymmetric.ec", "shuffled")
