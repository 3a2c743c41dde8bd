package org.ldptrace.device;

import java.math.BigInteger;

/** Generalised randomised response: the true item or any other one; output {@code domain} stands for none. */
final class Grr extends Randomizer {
    private final BigInteger weight;

    Grr(int domain, BigInteger[] ratio) {
        super(domain, domain + 1, Bytes.bytesFor(domain), ratio);
        weight = numerator.add(denominator.multiply(BigInteger.valueOf(domain)));
    }

    @Override
    int[] perturb(int[] items, Source source) {
        int truth = items.length > 0 ? items[0] : domain;
        BigInteger drawn = source.below(weight);
        if (drawn.compareTo(numerator) < 0) {
            return new int[] {truth};
        }
        int lie = drawn.subtract(numerator).divide(denominator).intValue();
        return new int[] {lie < truth ? lie : lie + 1};
    }

    @Override
    byte[] encode(int[] named) {
        return Bytes.bigEndian(named, payloadBytes);
    }

    @Override
    int[] decode(byte[] payload) {
        int[] named = Bytes.ofBigEndian(payload, payloadBytes);
        return named[0] > domain ? null : named;
    }

    @Override
    double[] probabilities() {
        return new double[] {Exact.quotient(numerator, weight), Exact.quotient(denominator, weight)};
    }
}
