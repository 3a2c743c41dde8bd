// Section 7 of the protocol: randomizers with exact integers.

import { ascending, chance } from "./randomness.js";

const bitLength = (value) => (value === 0 ? 0 : value.toString(2).length);
const bytesFor = (value) => Math.ceil(bitLength(value) / 8);

/** Ways to choose b of a. */
function choose(a, b) {
  if (b > a) return 0n;
  let ways = 1n;
  for (let k = 1; k <= b; k += 1) ways = (ways * BigInt(a - b + k)) / BigInt(k);
  return ways;
}

function bitVector(named, bits) {
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  for (const item of named) bytes[item >> 3] |= 1 << (item & 7);
  return bytes;
}

/** The items in a bit vector, or null if an unused bit is set. */
function readBits(bytes, bits) {
  const named = [];
  for (let item = 0; item < 8 * bytes.length; item += 1) if ((bytes[item >> 3] >> (item & 7)) & 1) named.push(item);
  return named.length > 0 && named.at(-1) >= bits ? null : named;
}

function bigEndian(value, size) {
  return Uint8Array.from({ length: size }, (_, at) => Math.floor(value / 256 ** (size - 1 - at)) % 256);
}

const readBigEndian = (bytes) => bytes.reduce((value, byte) => value * 256 + byte, 0);

class Oue {
  constructor(domain, numerator, denominator) {
    Object.assign(this, { domain, outputs: domain, numerator, denominator });
    this.payloadBytes = Math.ceil(domain / 8);
    this.untrue = chance(denominator, numerator + denominator);
  }

  perturb(items, source) {
    const named = [];
    for (let item = 0; item < this.domain; item += 1) {
      const one = item === items[0] ? source.index(2) === 1 : source.happens(this.untrue);
      if (one) named.push(item);
    }
    return named;
  }

  encode(named) {
    return bitVector(named, this.domain);
  }

  decode(bytes) {
    return readBits(bytes, this.domain);
  }
}

class Grr {
  constructor(domain, numerator, denominator) {
    Object.assign(this, { domain, outputs: domain + 1, numerator, denominator });
    this.payloadBytes = bytesFor(domain);
  }

  perturb(items, source) {
    const truth = items.length > 0 ? items[0] : this.domain;
    const drawn = source.below(this.numerator + BigInt(this.domain) * this.denominator);
    if (drawn < this.numerator) return [truth];
    const lie = Number((drawn - this.numerator) / this.denominator);
    return [lie < truth ? lie : lie + 1];
  }

  encode(named) {
    return bigEndian(named[0], this.payloadBytes);
  }

  decode(bytes) {
    const item = readBigEndian(bytes);
    return item > this.domain ? null : [item];
  }
}

class PrivSet {
  constructor(domain, numerator, denominator, capacity, size) {
    Object.assign(this, { domain, outputs: domain + capacity, numerator, denominator, capacity, size });
    this.itemBytes = bytesFor(domain + capacity - 1);
    const bits = Math.ceil(this.outputs / 8);
    this.listsItems = size * this.itemBytes < bits;
    this.payloadBytes = this.listsItems ? size * this.itemBytes : bits;
  }

  /** Integer weight of naming j of the own outputs, for j = 0, 1, ... */
  get weights() {
    const weights = [];
    let others = choose(this.domain, this.size);
    for (let j = 0; j <= Math.min(this.capacity, this.size); j += 1) {
      weights.push(choose(this.capacity, j) * others * (j > 0 ? this.numerator : this.denominator));
      others = (others * BigInt(this.size - j)) / BigInt(this.domain - this.size + j + 1);
    }
    Object.defineProperty(this, "weights", { value: weights });
    return weights;
  }

  /** The normaliser: all weights together. */
  get weight() {
    const sum = this.weights.reduce((total, weight) => total + weight, 0n);
    Object.defineProperty(this, "weight", { value: sum });
    return sum;
  }

  perturb(items, source) {
    const own = ascending(items);
    for (let empty = 0; own.length < this.capacity; empty += 1) own.push(this.domain + empty);
    let drawn = source.below(this.weight);
    let hits = 0;
    for (; drawn >= this.weights[hits]; hits += 1) drawn -= this.weights[hits];
    const mine = source.subset(own, hits);
    const others = source.places(this.outputs - this.capacity, this.size - hits);
    return ascending([...mine, ...others.map((place) => stranger(place, own))]);
  }

  encode(named) {
    if (!this.listsItems) return bitVector(named, this.outputs);
    return Uint8Array.from(named.flatMap((item) => [...bigEndian(item, this.itemBytes)]));
  }

  decode(bytes) {
    if (!this.listsItems) {
      const named = readBits(bytes, this.outputs);
      return named !== null && named.length === this.size ? named : null;
    }
    const named = Array.from({ length: this.size }, (_, place) =>
      readBigEndian(bytes.subarray(place * this.itemBytes, (place + 1) * this.itemBytes)),
    );
    const rising = named.every((item, place) => place === 0 || item > named[place - 1]);
    return rising && named.at(-1) < this.outputs ? named : null;
  }
}

/** The output at this place among those that are not the own ones, which are ascending. */
function stranger(place, own) {
  // The least number of own outputs before it that is consistent: own[k] - k rises with k.
  let [low, high] = [0, own.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (own[middle] - middle <= place) low = middle + 1;
    else high = middle;
  }
  return place + low;
}

/** The randomizer with these checked parameters. */
export function randomizer({ kind, domain, capacity, numerator, denominator, size }) {
  if (kind === "oue") return new Oue(domain, numerator, denominator);
  if (kind === "grr") return new Grr(domain, numerator, denominator);
  return new PrivSet(domain, numerator, denominator, capacity, size);
}
