package org.ldptrace.device;

import java.util.List;

/** What a question may look at: one trip, its cells, points and times, and the number of trips that it was drawn from. */
final class Occasion {
    private static final double LAST_CLOCK = 1e12;

    final int[] path;
    final Trajectory points;
    /** Number of trips that this one was drawn from; 0 where there was none. */
    final int trips;

    /** NaN where unknown. */
    final double departure;

    /** NaN where unknown. */
    final double arrival;

    Occasion(int[] path, Trajectory points, int trips, double departure, double arrival) {
        this.path = path;
        this.points = points;
        this.trips = trips;
        this.departure = departure;
        this.arrival = arrival;
    }

    /** One of the candidates, drawn from a stream of its own; without candidates nothing is drawn. */
    static Occasion of(List<Trajectory> candidates, Grid grid) {
        int count = candidates.size();
        return of(count == 0 ? new Trajectory() : candidates.get(Source.ofSystem().below(count)), count, grid);
    }

    /** The occasion of a trajectory that was drawn from so many. */
    static Occasion of(Trajectory trajectory, int trips, Grid grid) {
        Trajectory points = trajectory.thinned();
        double departure = points.size() == 0 ? Double.NaN : points.t(0);
        double arrival = points.size() == 0 ? Double.NaN : points.t(points.size() - 1);
        boolean known = isClock(departure) && isClock(arrival);
        return new Occasion(grid.path(points), points, trips, known ? departure : Double.NaN, known ? arrival : Double.NaN);
    }

    /** Whether a clock can show this; other units look like later times. */
    static boolean isClock(double seconds) {
        return Math.abs(seconds) < LAST_CLOCK;
    }

    boolean hasTimes() {
        return departure == departure;
    }

    /** Full hours since the beginning of 1970 at the departure. */
    long hour() {
        return Floor.div((long) Math.floor(departure), 3600);
    }
}
