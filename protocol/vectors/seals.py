"""Vectors of sealed reports: `python protocol/vectors/seals.py` writes `v2/seals.json`.

The first vector is that of RFC 9180, appendix A.3.1. Each has the recipient's key pair, the fresh key pair of the
device, what the seal is bound to, and the sealed bytes. Where `opened` is null, a curator must omit the seal.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ldptrace.curator.opening import CuratorKey
from ldptrace.device.sealing import Sealer
from ldptrace.protocol.seals import CURVE_B, ORDER, POINT_BYTES, PRIME, bound_info, label_bytes

HERE = Path(__file__).parent / "v2" / "seals.json"
RFC = {
    "name": "RFC 9180, appendix A.3.1",
    "secret": "f3ce7fdae57e1a310d87f1ebbde6f328be0a99cdbcadf4d6589cf29de4b8ffd2",
    "fresh": "4995788ef4b9d6132b249ce59a77281493eb39af373d236a1fe415cb0c2d7beb",
    "info": "4f6465206f6e2061204772656369616e2055726e",
    "label": "436f756e742d30",
    "text": "4265617574792069732074727574682c20747275746820626561757479",
    "sealed": "04a92719c6195d5085104f469a8b9814d5838ff72b60501e2c4466e5e67b325ac98536d7b61a1af4b78e5b7f951c0900be86"
    "3c403ce65c9bfcb9382657222d18c45ad590bb8baa577f8619db35a36311226a896e7342a6d836d8b7bcd2f20b6c7f9076ac232e3ab2523"
    "f39513434",
}


def secret_number(label: str) -> int:
    """A private key that follows from a text."""
    return 1 + int.from_bytes(hashlib.sha512(label.encode()).digest(), "big") % (ORDER - 1)


def vector(name: str, secret: int, fresh: int, *bound: bytes, text: bytes) -> dict[str, Any]:
    info, label = bound
    key = CuratorKey.from_text(f"{secret:064x}")
    sealed = Sealer(key.public, info).seal_with(fresh, text, label)
    return {
        "name": name,
        "secret": key.text,
        "public": key.public.hex(),
        "fresh": f"{fresh:064x}",
        "fresh_public": sealed[:POINT_BYTES].hex(),
        "info": info.hex(),
        "label": label.hex(),
        "text": text.hex(),
        "sealed": sealed.hex(),
        "opened": True,
    }


def of_the_rfc() -> dict[str, Any]:
    bound = (bytes.fromhex(RFC["info"]), bytes.fromhex(RFC["label"]))
    text = bytes.fromhex(RFC["text"])
    made = vector(RFC["name"], int(RFC["secret"], 16), int(RFC["fresh"], 16), *bound, text=text)
    assert made["sealed"] == RFC["sealed"]
    return made


def of_plans() -> Iterator[dict[str, Any]]:
    """Plans with and without windows, the smallest and the largest keys, short and long reports."""
    cases = [
        ("a plan without windows", None, 50),
        ("window 0", 0, 50),
        ("window 2913", 2913, 50),
        ("the last window", 2**32 - 1, 50),
        ("a report of a header alone", None, 39),
        ("a long report", 7, 5000),
    ]
    for name, window, size in cases:
        plan_id = hashlib.sha256(name.encode()).hexdigest()
        text = hashlib.shake_256(f"report, {name}".encode()).digest(size)
        made = vector(
            name,
            secret_number(f"curator, {name}"),
            secret_number(f"device, {name}"),
            bound_info(plan_id),
            label_bytes(window),
            text=text,
        )
        yield made | {"plan": plan_id, "window": window}
    for name, secret, fresh in [
        ("the smallest private keys", 1, 2),
        ("the largest private keys", ORDER - 1, ORDER - 2),
        ("points that begin with a zero byte", 2376, 379),
        ("an agreed secret that begins with a zero byte", 2376, 294),
    ]:
        yield vector(name, secret, fresh, b"info", b"label", text=b"report")


def changed(made: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Seals that nobody may open: each has one thing changed."""
    sealed, size = bytes.fromhex(made["sealed"]), POINT_BYTES

    def other(name: str, **changes: str) -> dict[str, Any]:
        return made | {"name": name, "opened": None} | changes

    yield other("another plan", info=(bytes.fromhex(made["info"])[:-1] + b"\x00").hex(), plan="00" * 32)
    yield other("another window outside", label="00000000", window=0)
    yield other("no window outside", label="", window=None)
    yield other("another private key", secret=f"{3:064x}", public=CuratorKey.from_text("3").public.hex())
    for place, name in ((size, "first byte of the report"), (-1, "last byte of the tag")):
        flipped = bytearray(sealed)
        flipped[place] ^= 1
        yield other(f"{name} flipped", sealed=flipped.hex())
    yield other("a byte is missing", sealed=sealed[:-1].hex())
    yield other("a byte too many", sealed=(sealed + b"\x00").hex())
    yield other("nothing", sealed="")
    yield other("a public key alone", sealed=sealed[:size].hex())
    yield other("a point that is not on the curve", sealed=("04" + "00" * 63 + "01" + sealed[size:].hex()))
    compressed = bytes([2 + sealed[size - 1] % 2]) + sealed[1:33]
    yield other("a compressed point", sealed=(compressed + sealed[size:]).hex())


def vectors() -> list[dict[str, Any]]:
    plans = list(of_plans())
    return [of_the_rfc(), *plans, *changed(plans[2])]


def public_keys() -> list[dict[str, Any]]:
    """Public keys that a plan may or may not have."""
    good = CuratorKey.from_text("5").public.hex()
    return [
        {"name": "a point of the curve", "public": good, "valid": True},
        {"name": "an empty key", "public": "", "valid": False},
        {"name": "the point at infinity", "public": "00", "valid": False},
        {"name": "a compressed point", "public": "03" + good[2:66], "valid": False},
        {"name": "a hybrid form", "public": "06" + good[2:], "valid": False},
        {"name": "a byte too many", "public": good + "00", "valid": False},
        {"name": "a byte too few", "public": good[:-2], "valid": False},
        {"name": "another y", "public": good[:-2] + "ff", "valid": False},
        {"name": "zeros", "public": "04" + "00" * 64, "valid": False},
        # The point (0, sqrt b) is on the curve; with x = p it is written in a second way.
        {"name": "x is zero", "public": f"04{0:064x}{root_of_b():064x}", "valid": True},
        {"name": "x is the prime", "public": f"04{PRIME:064x}{root_of_b():064x}", "valid": False},
    ]


def root_of_b() -> int:
    return pow(CURVE_B, (PRIME + 1) // 4, PRIME)


def written() -> str:
    parts = [
        f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, made)) + "\n]"
        for name, made in (("seals", vectors()), ("public_keys", public_keys()))
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written(), encoding="ascii")
