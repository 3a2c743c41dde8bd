package org.ldptrace.device;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;

/** Budgets as logarithms, in fixed point with 160 bits after the point: section 3.2 of the protocol. */
final class Exact {
    private static final int BITS = 160;
    private static final BigInteger LN2 = twiceArtanh(BigInteger.ONE, BigInteger.valueOf(3));

    private Exact() {}

    /** ln(numerator / denominator) of a ratio above 1, in units of 2^-160. */
    static BigInteger logarithm(BigInteger numerator, BigInteger denominator) {
        int doublings = 0;
        BigInteger scaled = denominator;
        while (scaled.shiftLeft(1).compareTo(numerator) <= 0) {
            scaled = scaled.shiftLeft(1);
            doublings++;
        }
        BigInteger rest = twiceArtanh(numerator.subtract(scaled), numerator.add(scaled));
        return LN2.multiply(BigInteger.valueOf(doublings)).add(rest);
    }

    /** Whether this many units of 2^-160 are more than the decimal. */
    static boolean exceeds(BigInteger units, BigDecimal epsilon) {
        return new BigDecimal(units).compareTo(epsilon.multiply(new BigDecimal(BigInteger.ONE.shiftLeft(BITS)))) > 0;
    }

    /** About this many units, to show. */
    static double about(BigInteger units) {
        return new BigDecimal(units).divide(new BigDecimal(BigInteger.ONE.shiftLeft(BITS))).doubleValue();
    }

    /** a / b as a double. */
    static double quotient(BigInteger a, BigInteger b) {
        return new BigDecimal(a).divide(new BigDecimal(b), MathContext.DECIMAL64).doubleValue();
    }

    /** 2 artanh(a / b) for a / b at most 1/3. */
    private static BigInteger twiceArtanh(BigInteger a, BigInteger b) {
        BigInteger z = a.shiftLeft(BITS).divide(b);
        BigInteger square = z.multiply(z).shiftRight(BITS);
        BigInteger sum = BigInteger.ZERO;
        BigInteger power = z;
        for (long odd = 1; power.signum() > 0; odd += 2) {
            sum = sum.add(power.divide(BigInteger.valueOf(odd)));
            power = power.multiply(square).shiftRight(BITS);
        }
        return sum.shiftLeft(1);
    }

    /** Ways to choose b of a. */
    static BigInteger choose(int a, int b) {
        if (b < 0 || b > a) {
            return BigInteger.ZERO;
        }
        BigInteger ways = BigInteger.ONE;
        for (int k = 1; k <= b; k++) {
            ways = ways.multiply(BigInteger.valueOf(a - b + k)).divide(BigInteger.valueOf(k));
        }
        return ways;
    }
}
