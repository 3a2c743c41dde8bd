package org.ldptrace.device;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Decimal numbers: how they are read back, and how they are written for people. */
final class Decimals {
    private Decimals() {}

    /** The value with this many digits. */
    static BigDecimal rounded(BigDecimal value, int digits) {
        return value.round(new MathContext(digits, RoundingMode.HALF_EVEN));
    }

    /** Whether some decimal of this many digits reads back as the double. */
    static boolean readsBack(BigDecimal exact, int digits, double value) {
        BigDecimal below = exact.round(new MathContext(digits, RoundingMode.FLOOR));
        BigDecimal above = exact.round(new MathContext(digits, RoundingMode.CEILING));
        return below.doubleValue() == value || above.doubleValue() == value;
    }

    /** As {@code %.3f} of the exact value. */
    static String fixed(double value, int places) {
        return new BigDecimal(value).setScale(places, RoundingMode.HALF_EVEN).toPlainString();
    }

    /** As {@code %.6g}: this many digits without trailing zeros, with an exponent where the number is far from one. */
    static String general(double value, int digits) {
        if (value == 0) {
            return "0";
        }
        BigDecimal found = rounded(new BigDecimal(value), digits).stripTrailingZeros();
        int exponent = found.precision() - found.scale() - 1;
        if (exponent >= -4 && exponent < digits) {
            return found.toPlainString();
        }
        String power = (exponent < 0 ? "-" : "+") + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
        return found.movePointLeft(exponent).stripTrailingZeros().toPlainString() + "e" + power;
    }

    /** A decimal written out, without trailing zeros. */
    static String plain(BigDecimal value) {
        return value.signum() == 0 ? "0" : value.stripTrailingZeros().toPlainString();
    }
}
