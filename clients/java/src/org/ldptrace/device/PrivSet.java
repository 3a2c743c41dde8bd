package org.ldptrace.device;

import java.math.BigInteger;
import java.util.Arrays;

/** PrivSet: a subset of fixed size, more likely where it meets the own set, which nulls fill up to its capacity. */
final class PrivSet extends Randomizer {
    private final int capacity;
    private final int size;
    private final int itemBytes;
    private final boolean listsItems;
    /** Integer weight of naming j of the own outputs, and of all cases together; computed when first needed. */
    private BigInteger[] weights;

    private BigInteger weight;

    PrivSet(int domain, BigInteger[] ratio, int capacity, int size) {
        super(domain, domain + capacity, payload(domain + capacity, size), ratio);
        this.capacity = capacity;
        this.size = size;
        itemBytes = Bytes.bytesFor(outputs - 1);
        listsItems = size * itemBytes < (outputs + 7) / 8;
    }

    /** Outputs one by one where they are few, else one bit per output. */
    private static int payload(int outputs, int size) {
        return Math.min(size * Bytes.bytesFor(outputs - 1), (outputs + 7) / 8);
    }

    private synchronized void weigh() {
        if (weights != null) {
            return;
        }
        BigInteger[] found = new BigInteger[Math.min(capacity, size) + 1];
        BigInteger others = Exact.choose(domain, size);
        BigInteger own = BigInteger.ONE;
        weight = BigInteger.ZERO;
        for (int j = 0; j < found.length; j++) {
            found[j] = own.multiply(others).multiply(j > 0 ? numerator : denominator);
            weight = weight.add(found[j]);
            // From the ways to choose j own outputs and size - j others to those with one more and one fewer.
            own = own.multiply(BigInteger.valueOf(capacity - j)).divide(BigInteger.valueOf(j + 1));
            others = others.multiply(BigInteger.valueOf(size - j)).divide(BigInteger.valueOf(domain - size + j + 1));
        }
        weights = found;
    }

    @Override
    int[] perturb(int[] items, Source source) {
        weigh();
        int[] own = Arrays.copyOf(items, capacity);
        for (int i = items.length; i < capacity; i++) {
            own[i] = domain + i - items.length;
        }
        BigInteger drawn = source.below(weight);
        int hits = 0;
        while (drawn.compareTo(weights[hits]) >= 0) {
            drawn = drawn.subtract(weights[hits++]);
        }
        int[] named = Arrays.copyOf(source.subset(own, hits), size);
        int[] others = source.places(outputs - capacity, size - hits);
        for (int i = 0; i < others.length; i++) {
            named[hits + i] = stranger(others[i], own);
        }
        Arrays.sort(named);
        return named;
    }

    /** The output at this place among those that are not the own ones, which are ascending. */
    private static int stranger(int place, int[] own) {
        int low = 0;
        int high = own.length;
        while (low < high) {
            int middle = (low + high) / 2;
            if (own[middle] - middle <= place) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return place + low;
    }

    @Override
    byte[] encode(int[] named) {
        return listsItems ? Bytes.bigEndian(named, itemBytes) : bits(named, outputs);
    }

    @Override
    int[] decode(byte[] payload) {
        int[] named = listsItems ? Bytes.ofBigEndian(payload, itemBytes) : ofBits(payload, outputs);
        if (named == null || named.length != size || named[size - 1] >= outputs) {
            return null;
        }
        for (int i = 1; i < size; i++) {
            if (named[i] <= named[i - 1]) {
                return null;
            }
        }
        return named;
    }

    @Override
    double[] probabilities() {
        weigh();
        BigInteger containing = Exact.choose(outputs - 1, size - 1);
        BigInteger missing = Exact.choose(domain - 1, size - 1);
        BigInteger untrue = missing.multiply(denominator).add(containing.subtract(missing).multiply(numerator));
        return new double[] {Exact.quotient(containing.multiply(numerator), weight), Exact.quotient(untrue, weight)};
    }
}
