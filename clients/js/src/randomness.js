// Section 6 of the protocol: uniform integers from a stream of random bytes.

const [NO, YES, AGAIN, OPEN] = [0, 1, 2, 3];

/** Bytes of the system's secure source, read ahead a little. */
export function systemBytes() {
  let data = new Uint8Array(0);
  let position = 0;
  return (count) => {
    const left = data.length - position;
    if (left < count) {
      const more = new Uint8Array(left + Math.max(count - left, 512));
      more.set(data.subarray(position));
      for (let at = left; at < more.length; at += 65536) {
        globalThis.crypto.getRandomValues(more.subarray(at, Math.min(at + 65536, more.length)));
      }
      [data, position] = [more, 0];
    }
    position += count;
    return data.slice(position - count, position);
  };
}

export class Source {
  constructor(take = systemBytes()) {
    this.take = take;
  }

  /** Uniform in 0n .. bound - 1n. */
  below(bound) {
    const most = bound - 1n;
    if (most === 0n) return 0n;
    const bits = most.toString(2).length;
    const size = Math.ceil(bits / 8);
    const mask = (1n << BigInt(bits)) - 1n;
    for (;;) {
      const value = integer(this.take(size)) & mask;
      if (value < bound) return value;
    }
  }

  /** Whether `below(bound)` of a `chance` is below its limit: the same bytes, of which the first nearly always decides. */
  happens({ limit, bound, size, mask, verdicts }) {
    if (size === 0) return limit > 0n;
    for (;;) {
      const bytes = this.take(size);
      const verdict = verdicts[bytes[0]];
      if (verdict === NO || verdict === YES) return verdict === YES;
      if (verdict === AGAIN) continue;
      const value = integer(bytes) & mask;
      if (value < bound) return value < limit;
    }
  }

  /** The same for ordinary numbers, up to 2^31. */
  index(bound) {
    if (bound === 1) return 0;
    const bits = 32 - Math.clz32(bound - 1);
    const size = (bits + 7) >> 3;
    const mask = 2 ** bits - 1;
    for (;;) {
      let value = 0;
      for (const byte of this.take(size)) value = (value << 8) | byte;
      value &= mask;
      if (value < bound) return value;
    }
  }

  /** A uniformly random subset of the list, ascending: the first steps of Fisher-Yates. */
  subset(list, size) {
    return ascending(this.places(list.length, size).map((place) => list[place]));
  }

  /** Different uniformly random places of a list: those of Fisher-Yates, without writing the list out. */
  places(length, size) {
    const moved = new Map();
    const found = [];
    for (let position = 0; position < size; position += 1) {
      const other = position + this.index(length - position);
      found.push(moved.get(other) ?? other);
      moved.set(other, moved.get(position) ?? position);
    }
    return found;
  }
}

function integer(bytes) {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}

/** The event that a uniform integer below `bound` is below `limit`, and what the highest byte of a draw says about it. */
export function chance(limit, bound) {
  const bits = bound === 1n ? 0 : (bound - 1n).toString(2).length;
  const size = Math.ceil(bits / 8);
  const mask = (1n << BigInt(bits)) - 1n;
  const rest = BigInt(Math.max(8 * (size - 1), 0));
  const verdicts = Uint8Array.from({ length: 256 }, (_, byte) => {
    const lowest = (BigInt(byte) << rest) & mask;
    const highest = lowest + (1n << rest) - 1n;
    if (highest < limit) return YES;
    if (lowest >= bound) return AGAIN;
    return lowest >= limit && highest < bound ? NO : OPEN;
  });
  return { limit, bound, size, mask, verdicts };
}

export function ascending(numbers) {
  return [...numbers].sort((a, b) => a - b);
}
