// Vectors of sealed reports, and opening, which only the curator and tests do.

import { keysOf, boundInfo, labelBytes, publicKey, seal, sealWith } from "../src/seals.js";
import { bytes, hex } from "./check.js";

const CURVE = { name: "ECDH", namedCurve: "P-256" };
const POINT = 65;

function base64url(data) {
  return btoa(String.fromCharCode(...data)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** A private key with its public point. */
export async function keyPair(secret, point) {
  const [x, y] = [base64url(point.subarray(1, 33)), base64url(point.subarray(33))];
  const shown = { kty: "EC", crv: "P-256", x, y };
  return {
    privateKey: await crypto.subtle.importKey("jwk", { ...shown, d: base64url(secret) }, CURVE, true, ["deriveBits"]),
    publicKey: await crypto.subtle.importKey("jwk", shown, CURVE, true, []),
  };
}

/** The report in a seal, or null. */
export async function open({ secret, point, info, label }, sealed) {
  try {
    const theirs = sealed.slice(0, POINT);
    const pair = await keyPair(secret, point);
    const context = Uint8Array.from([...theirs, ...point]);
    const { key, nonce } = await keysOf(pair.privateKey, await publicKey(theirs), context, info);
    const cipher = { name: "AES-GCM", iv: nonce, additionalData: label };
    return new Uint8Array(await crypto.subtle.decrypt(cipher, key, sealed.slice(POINT)));
  } catch {
    return null;
  }
}

/** Names of vectors of seals.json that fail. */
export async function sealFailures({ seals, public_keys: keys }) {
  const failed = [];
  for (const v of seals) {
    const given = { secret: bytes(v.secret), point: bytes(v.public), info: bytes(v.info), label: bytes(v.label) };
    const found = await open(given, bytes(v.sealed));
    let right = found === null ? v.opened === null : v.opened === true && hex(found) === v.text;
    if (v.opened) {
      const fresh = await keyPair(bytes(v.fresh), bytes(v.fresh_public));
      right &&= hex(await sealWith(fresh, given.point, given, bytes(v.text))) === v.sealed;
      right &&= v.plan === undefined || hex(boundInfo(v.plan)) + hex(labelBytes(v.window)) === v.info + v.label;
      const again = await seal(given.point, given.info, given.label, bytes(v.text));
      right &&= hex(again) !== v.sealed && hex(await open(given, again)) === v.text;
    }
    if (!right) failed.push(v.name);
  }
  for (const v of keys) {
    let valid = true;
    try {
      await publicKey(bytes(v.public));
    } catch {
      valid = false;
    }
    if (valid !== v.valid) failed.push(v.name);
  }
  return failed;
}
