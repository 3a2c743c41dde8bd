package org.ldptrace.device;

/** What a question may look at: cells, points, and the device's clock at both ends where both are known. */
final class Trip {
    private static final double LAST_CLOCK = 1e12;

    final int[] path;
    final Trajectory points;
    /** NaN where unknown. */
    final double departure;

    /** NaN where unknown. */
    final double arrival;

    Trip(int[] path, Trajectory points, double departure, double arrival) {
        this.path = path;
        this.points = points;
        this.departure = departure;
        this.arrival = arrival;
    }

    /** The trip of a trajectory on the grid; every trajectory has one. */
    static Trip of(Trajectory trajectory, Grid grid) {
        Trajectory points = trajectory.thinned();
        double departure = points.size() == 0 ? Double.NaN : points.t(0);
        double arrival = points.size() == 0 ? Double.NaN : points.t(points.size() - 1);
        boolean known = Math.abs(departure) < LAST_CLOCK && Math.abs(arrival) < LAST_CLOCK;
        return new Trip(grid.path(points), points, known ? departure : Double.NaN, known ? arrival : Double.NaN);
    }

    boolean hasTimes() {
        return departure == departure;
    }

    /** Full hours since the beginning of 1970 at the departure. */
    long hour() {
        return Floor.div((long) Math.floor(departure), 3600);
    }
}
