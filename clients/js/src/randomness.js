// Section 6 of the protocol: uniform integers from a stream of random bytes.

/** Bytes of the system's secure source, read ahead a little. */
export function systemBytes() {
  let data = new Uint8Array(0);
  let position = 0;
  return (count) => {
    if (position + count > data.length) {
      data = new Uint8Array(Math.max(count, 512));
      for (let at = 0; at < data.length; at += 65536) {
        globalThis.crypto.getRandomValues(data.subarray(at, Math.min(at + 65536, data.length)));
      }
      position = 0;
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
      let value = 0n;
      for (const byte of this.take(size)) value = (value << 8n) | BigInt(byte);
      value &= mask;
      if (value < bound) return value;
    }
  }

  /** The same for ordinary numbers. */
  index(bound) {
    return Number(this.below(BigInt(bound)));
  }

  /** A uniformly random subset of the list, ascending: the first steps of Fisher-Yates. */
  subset(list, size) {
    const pool = [...list];
    for (let position = 0; position < size; position += 1) {
      const other = position + this.index(pool.length - position);
      [pool[position], pool[other]] = [pool[other], pool[position]];
    }
    return ascending(pool.slice(0, size));
  }
}

export function ascending(numbers) {
  return [...numbers].sort((a, b) => a - b);
}
