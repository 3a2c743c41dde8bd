package org.ldptrace.device;

import java.math.BigInteger;
import java.util.Arrays;

/** Optimised unary encoding: a bit for each item. */
final class Oue extends Randomizer {
    private final Source.Chance untrue;

    Oue(int domain, BigInteger[] ratio) {
        super(domain, domain, (domain + 7) / 8, ratio);
        untrue = new Source.Chance(denominator, numerator.add(denominator));
    }

    @Override
    int[] perturb(int[] items, Source source) {
        int truth = items.length > 0 ? items[0] : domain;
        int[] named = new int[domain];
        int count = 0;
        for (int item = 0; item < domain; item++) {
            if (item == truth ? source.below(2) == 1 : source.happens(untrue)) {
                named[count++] = item;
            }
        }
        return Arrays.copyOf(named, count);
    }

    @Override
    byte[] encode(int[] named) {
        return bits(named, domain);
    }

    @Override
    int[] decode(byte[] payload) {
        return ofBits(payload, domain);
    }

    @Override
    double[] probabilities() {
        return new double[] {0.5, Exact.quotient(denominator, numerator.add(denominator))};
    }
}
