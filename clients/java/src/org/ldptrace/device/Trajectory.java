package org.ldptrace.device;

import java.util.Arrays;

/**
 * Points of one trip, in order: x, y and, where it is known, t, the seconds since 1970-01-01 00:00 on the device's own clock
 * (Unix time plus the offset of local time from UTC).
 *
 * <p>Every trajectory is answered, whatever its points are: not a number, infinite, far away, or none at all.
 */
public final class Trajectory {
    /** More points than this are thinned out before anything is computed, so that work does not grow with the trip. */
    static final int MOST_POINTS = 4096;

    private double[] values = new double[48];
    private int size;
    private double arrival = Double.NaN;

    /** Adds a point without a time. */
    public Trajectory add(double x, double y) {
        return add(x, y, Double.NaN);
    }

    /** Adds a point. */
    public Trajectory add(double x, double y, double t) {
        if (3 * size == values.length) {
            values = Arrays.copyOf(values, 2 * values.length);
        }
        values[3 * size] = x;
        values[3 * size + 1] = y;
        values[3 * size + 2] = t;
        size++;
        return this;
    }

    /**
     * Records the Unix time of the last point, when it is recorded. It decides which window of a standing plan the trip
     * belongs to, and must not change afterwards; a trip without it belongs to none.
     */
    public Trajectory arrived(double unixSeconds) {
        arrival = unixSeconds;
        return this;
    }

    /** The recorded Unix time of the last point, NaN where it is unknown. */
    public double arrival() {
        return arrival;
    }

    public int size() {
        return size;
    }

    public double x(int point) {
        return values[3 * point];
    }

    public double y(int point) {
        return values[3 * point + 1];
    }

    /** NaN where it is unknown. */
    public double t(int point) {
        return values[3 * point + 2];
    }

    /** At most 4,096 of the points, evenly by their number, the first and the last among them. */
    Trajectory thinned() {
        if (size <= MOST_POINTS) {
            return this;
        }
        Trajectory kept = new Trajectory();
        for (long i = 0; i < MOST_POINTS; i++) {
            int point = (int) (i * (size - 1) / (MOST_POINTS - 1));
            kept.add(x(point), y(point), t(point));
        }
        return kept;
    }
}
