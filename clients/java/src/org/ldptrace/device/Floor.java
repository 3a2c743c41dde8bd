package org.ldptrace.device;

/** Floor division, which Android has from API 24 on only. */
final class Floor {
    private Floor() {}

    static long div(long a, long b) {
        long quotient = a / b;
        return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
    }

    static int mod(long a, long b) {
        return (int) (a - div(a, b) * b);
    }
}
