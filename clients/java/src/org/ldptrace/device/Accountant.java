package org.ldptrace.device;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a report that is mixed with others reveals of one person: section 4 of version 2 of the protocol. The steps are those of
 * the text, one by one, on doubles.
 */
final strictfp class Accountant {
    private static final double RARE = Math.scalb(1.0, -80);
    private static final int BLOCK = 256;
    private static final double SMALL = Math.scalb(1.0, -40);
    private static final double SLACK = 1 + Math.scalb(1.0, -30);
    private static final double MARGIN = 1 + Math.scalb(1.0, -20);

    private final double alpha;
    private final double theta;
    private final double e;

    private Accountant(double local, double central) {
        double e0 = StrictMath.exp(local);
        e = StrictMath.exp(central);
        alpha = (e0 - e) / (e0 + 1);
        theta = (e * e0 - 1) / ((e0 - 1) * (e + 1));
    }

    /** A delta for which n shuffled reports of devices with eps0 `local` are (central, delta)-differentially private. */
    static double divergence(int n, double local, double central) {
        return central >= local ? 0 : new Accountant(local, central).over(n, local);
    }

    /** Goes over the numbers of clones, from the likeliest downwards and upwards, in blocks. */
    private double over(int n, double local) {
        int others = n - 1;
        double odds = 1 / (StrictMath.exp(local) - 1);
        int mode = Math.min((int) Math.floor(n * StrictMath.exp(-local)), others);
        List<Double> below = new ArrayList<>();
        int low = mode;
        double weight = 1;
        while (low > 0) {
            weight = weight * (low / ((others - low + 1) * odds));
            if (weight < RARE) {
                break;
            }
            low--;
            below.add(weight);
        }
        double omitted = low == 0 ? 0 : weight / (1 - (low - 1) / ((others - low + 2) * odds));
        double[] weights = new double[2 * below.size() + BLOCK];
        for (int i = 0; i < below.size(); i++) {
            weights[below.size() - 1 - i] = below.get(i);
        }
        int count = below.size();
        weights[count++] = 1;
        int high = mode;
        weight = 1;
        while (high < others) {
            weight = weight * ((others - high) * odds / (high + 1));
            if (weight < RARE) {
                break;
            }
            high++;
            weights = count < weights.length ? weights : Arrays.copyOf(weights, 2 * count);
            weights[count++] = weight;
        }
        if (high < others) {
            omitted += weight / (1 - (others - high - 1) * odds / (high + 2));
        }
        double whole = sum(weights, 0, count);
        List<Double> parts = new ArrayList<>();
        for (int first = low; first <= high; ) {
            int end = Math.min(first + Math.max(first / BLOCK, 1), high + 1);
            parts.add(sum(weights, first - low, end - low) / whole * given(first));
            first = end;
        }
        double[] listed = new double[parts.size()];
        for (int i = 0; i < listed.length; i++) {
            listed[i] = parts.get(i);
        }
        return sum(listed, 0, listed.length) * MARGIN + omitted / whole;
    }

    /** The divergence for a known number of clones. */
    private double given(int count) {
        int total = count + 1;
        int first = Math.min((int) Math.floor(theta * total) + 1, total);
        double tail = 0;
        double term = 1;
        for (int k = first - 1; k < count; k++) {
            term = term * ((double) (count - k) / (k + 1));
            tail += term;
            if (term < SMALL * tail) {
                break;
            }
        }
        double rest = alpha * SLACK - (e - 1) * tail;
        return rest > 0 ? coins(count, first - 1) * rest : 0;
    }

    /** At least the probability of `heads` among `count` fair coins. */
    private static double coins(double count, double heads) {
        double tails = count - heads;
        if (tails == 0) {
            return StrictMath.exp(-count * StrictMath.log(2));
        }
        double exponent = 1 / (12 * count) - 1 / (12 * heads + 1) - 1 / (12 * tails + 1)
                - heads * StrictMath.log(2 * heads / count) - tails * StrictMath.log(2 * tails / count);
        return Math.sqrt(count / (2 * Math.PI * heads * tails)) * StrictMath.exp(exponent);
    }

    /** A sum that keeps what rounding drops. */
    private static double sum(double[] values, int from, int to) {
        double total = 0;
        double rest = 0;
        for (int i = from; i < to; i++) {
            double more = values[i] - rest;
            double next = total + more;
            rest = next - total - more;
            total = next;
        }
        return total;
    }
}
