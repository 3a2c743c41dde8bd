// Sealed reports of shuffled plans: HPKE (RFC 9180), base mode, one message per key, with P-256, HKDF-SHA256 and
// AES-128-GCM, by Web Crypto.

import { hexBytes } from "./reports.js";

const CURVE = { name: "ECDH", namedCurve: "P-256" };
const POINT_BYTES = 65;
export const SEAL_BYTES = POINT_BYTES + 16;

const ascii = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const KEM = ascii("KEM\x00\x10");
const SUITE = ascii("HPKE\x00\x10\x00\x01\x00\x01");
const NOTHING = new Uint8Array(0);

function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let position = 0;
  for (const part of parts) {
    whole.set(part, position);
    position += part.length;
  }
  return whole;
}

/** What every seal of a plan is bound to: the protocol's name and version, and the plan's id. */
export const boundInfo = (planId) => joined(ascii("ldptrace\x02"), hexBytes(planId));

/** The label that stands outside a seal and is bound to it: the window, or nothing. */
export function labelBytes(window) {
  if (window === null) return NOTHING;
  const label = new Uint8Array(4);
  new DataView(label.buffer).setUint32(0, window);
  return label;
}

/** The public key of a plan, imported; throws if it is not a point of the curve in uncompressed form. */
export function publicKey(point) {
  if (point.length !== POINT_BYTES || point[0] !== 4) throw new Error("a public key is an uncompressed point of P-256");
  return crypto.subtle.importKey("raw", point, CURVE, true, []);
}

/** The sealed bytes of a report for the holder of a private key; `public` and `info` come from the plan. */
export async function seal(point, info, label, report) {
  const fresh = await crypto.subtle.generateKey(CURVE, true, ["deriveBits"]);
  return sealWith(fresh, point, { info, label }, report);
}

/** The same with a given fresh key pair, which must be used once. */
export async function sealWith(fresh, point, { info, label }, report) {
  const mine = new Uint8Array(await crypto.subtle.exportKey("raw", fresh.publicKey));
  const { key, nonce } = await keysOf(fresh.privateKey, await publicKey(point), joined(mine, point), info);
  const cipher = { name: "AES-GCM", iv: nonce, additionalData: label };
  return joined(mine, new Uint8Array(await crypto.subtle.encrypt(cipher, key, report)));
}

/** The key and the nonce that two keys agree on; `context` is the sender's public key and the recipient's. */
export async function keysOf(privateKey, otherKey, context, info) {
  const agreed = new Uint8Array(await crypto.subtle.deriveBits({ name: "ECDH", public: otherKey }, privateKey, 256));
  const shared = await expand(await extract(NOTHING, KEM, "eae_prk", agreed), KEM, "shared_secret", context, 32);
  const hashes = [
    await extract(NOTHING, SUITE, "psk_id_hash", NOTHING),
    await extract(NOTHING, SUITE, "info_hash", info),
  ];
  const schedule = joined(new Uint8Array(1), ...hashes);
  const secret = await extract(shared, SUITE, "secret", NOTHING);
  const raw = await expand(secret, SUITE, "key", schedule, 16);
  const key = await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt", "decrypt"]);
  return { key, nonce: await expand(secret, SUITE, "base_nonce", schedule, 12) };
}

async function hmac(key, text) {
  // An empty key is refused by some; zeros of the hash's size are the same key.
  const raw = key.length === 0 ? new Uint8Array(32) : key;
  const imported = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, text));
}

const extract = (salt, suite, label, material) => hmac(salt, joined(ascii("HPKE-v1"), suite, ascii(label), material));

/** At most 32 bytes, so that one block is enough. */
async function expand(key, suite, label, info, size) {
  const text = joined(Uint8Array.of(0, size), ascii("HPKE-v1"), suite, ascii(label), info, Uint8Array.of(1));
  return (await hmac(key, text)).slice(0, size);
}
