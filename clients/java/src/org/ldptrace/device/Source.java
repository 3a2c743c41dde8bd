package org.ldptrace.device;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Uniform integers from a stream of random bytes, exactly: section 6 of the protocol. */
public final class Source {
    private final RandomBytes bytes;

    /** Draws from this stream. */
    public Source(RandomBytes bytes) {
        this.bytes = bytes;
    }

    /** Draws from fresh bytes of the system's secure source. */
    static Source ofSystem() {
        return new Source(new SystemBytes());
    }

    byte[] take(int count) {
        return bytes.take(count);
    }

    /** Uniform in 0 .. bound - 1. */
    public BigInteger below(BigInteger bound) {
        int bits = bound.subtract(BigInteger.ONE).bitLength();
        if (bits == 0) {
            return BigInteger.ZERO;
        }
        int size = (bits + 7) / 8;
        while (true) {
            byte[] drawn = take(size);
            drawn[0] &= (byte) (0xff >> 8 * size - bits);
            BigInteger value = new BigInteger(1, drawn);
            if (value.compareTo(bound) < 0) {
                return value;
            }
        }
    }

    /** The same for ordinary numbers. */
    public int below(int bound) {
        int bits = 32 - Integer.numberOfLeadingZeros(bound - 1);
        if (bits == 0) {
            return 0;
        }
        int mask = (int) ((1L << bits) - 1);
        while (true) {
            int value = 0;
            for (byte one : take((bits + 7) / 8)) {
                value = value << 8 | one & 0xff;
            }
            if ((value & mask) < bound) {
                return value & mask;
            }
        }
    }

    /** A uniformly random subset of the list, ascending: the first steps of Fisher-Yates. */
    public int[] subset(int[] list, int size) {
        int[] found = places(list.length, size);
        for (int i = 0; i < size; i++) {
            found[i] = list[found[i]];
        }
        Arrays.sort(found);
        return found;
    }

    /** Different uniformly random places of a list: those of Fisher-Yates, without writing the list out. */
    int[] places(int length, int size) {
        Map<Integer, Integer> moved = new HashMap<>();
        int[] found = new int[size];
        for (int position = 0; position < size; position++) {
            int other = position + below(length - position);
            Integer entry = moved.get(other);
            Integer first = moved.get(position);
            found[position] = entry == null ? other : entry;
            moved.put(other, first == null ? position : first);
        }
        return found;
    }

    /** Whether the event happens: {@code below(bound) < limit} from the same bytes. */
    boolean happens(Chance chance) {
        if (chance.size == 0) {
            return chance.limit.signum() > 0;
        }
        while (true) {
            byte[] drawn = take(chance.size);
            byte verdict = chance.verdicts[drawn[0] & 0xff];
            if (verdict == Chance.OPEN) {
                drawn[0] &= chance.mask;
                BigInteger value = new BigInteger(1, drawn);
                verdict = value.compareTo(chance.bound) >= 0
                        ? Chance.AGAIN
                        : value.compareTo(chance.limit) < 0 ? Chance.YES : Chance.NO;
            }
            if (verdict != Chance.AGAIN) {
                return verdict == Chance.YES;
            }
        }
    }

    /** The event that a uniform integer below {@code bound} is below {@code limit}; the highest byte nearly always decides. */
    static final class Chance {
        static final byte NO = 0;
        static final byte YES = 1;
        static final byte AGAIN = 2;
        static final byte OPEN = 3;

        final BigInteger limit;
        final BigInteger bound;
        final int size;
        final byte mask;
        final byte[] verdicts = new byte[256];

        Chance(BigInteger limit, BigInteger bound) {
            this.limit = limit;
            this.bound = bound;
            int bits = bound.subtract(BigInteger.ONE).bitLength();
            size = (bits + 7) / 8;
            mask = (byte) (0xff >> 8 * size - bits);
            int rest = Math.max(8 * (size - 1), 0);
            for (int first = 0; first < 256; first++) {
                BigInteger lowest = BigInteger.valueOf(first & mask & 0xff).shiftLeft(rest);
                BigInteger highest = lowest.add(BigInteger.ONE.shiftLeft(rest)).subtract(BigInteger.ONE);
                verdicts[first] = verdict(lowest, highest);
            }
        }

        /** What is known of a value that lies between these two. */
        private byte verdict(BigInteger lowest, BigInteger highest) {
            if (highest.compareTo(limit) < 0) {
                return YES;
            }
            if (lowest.compareTo(bound) >= 0) {
                return AGAIN;
            }
            return lowest.compareTo(limit) >= 0 && highest.compareTo(bound) < 0 ? NO : OPEN;
        }
    }
}
