package org.ldptrace.device;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a device makes of trips, in sentences for the developer or the person. Nothing is drawn, stored, spent or sent: a device
 * answers for any trips, so mistakes in a program that hands over trips stay unseen in its reports.
 */
final class Checking {
    private static final List<String> GEOGRAPHIC = Arrays.asList("EPSG:4326", "OGC:CRS84");
    /** The smallest and largest degrees. */
    private static final double[] DEGREES = {-180, -90, 180, 90};

    private final List<String> lines = new ArrayList<>();
    private final Plan plan;
    /** Trips with points; of long ones, the points that are used. */
    private final List<Trajectory> full = new ArrayList<>();

    private Checking(Plan plan) {
        this.plan = plan;
    }

    /** What the device would make of trips, asked for this round while its clock shows this Unix time. */
    static List<String> of(Plan plan, int round, List<Trajectory> trips, Book book, double now) {
        Checking checking = new Checking(plan);
        checking.sizes(trips);
        checking.places();
        for (Round.Ask ask : plan.rounds.get(round).asks) {
            if (ask.question.isAboutTime()) {
                checking.times();
                break;
            }
        }
        if (plan.standing == null) {
            checking.earlier(book, round);
            checking.outcome(checking.full.size());
        } else {
            checking.arrivals();
            checking.windows(book.row(plan), now);
        }
        return checking.lines;
    }

    private void sizes(List<Trajectory> trips) {
        long points = 0;
        int large = 0;
        for (Trajectory trip : trips) {
            points += trip.size();
            large += trip.size() > Trajectory.MOST_POINTS ? 1 : 0;
            if (trip.size() > 0) {
                full.add(trip.thinned().arrived(trip.arrival()));
            }
        }
        lines.add("Trips: " + trips.size() + ", with " + points + " point" + (points == 1 ? "" : "s") + ".");
        share("Trips without points, which do not count", trips.size() - full.size(), trips.size());
        share("Trips with more than " + Trajectory.MOST_POINTS + " points, of which " + Trajectory.MOST_POINTS + " are used",
                large, trips.size());
    }

    private void places() {
        double[] box = plan.grid.bounds();
        int all = 0;
        List<double[]> readable = new ArrayList<>();
        List<double[]> outside = new ArrayList<>();
        for (Trajectory trip : full) {
            all += trip.size();
            for (int i = 0; i < trip.size(); i++) {
                double[] point = {trip.x(i), trip.y(i)};
                if (point[0] == point[0] && point[1] == point[1]) {
                    readable.add(point);
                    if (!inside(point[0], point[1], box)) {
                        outside.add(point);
                    }
                }
            }
        }
        share("Points whose x or y is no number, which count as the lowest x or y of the bounds", all - readable.size(), all);
        share("Points outside the bounds (" + digits6(box[0]) + ", " + digits6(box[1]) + ") to (" + digits6(box[2]) + ", "
                + digits6(box[3]) + "), which count for the nearest cell", outside.size(), all);
        if (!outside.isEmpty() && outside.size() == readable.size()) {
            lines.add("All points are outside" + why(outside, box));
        }
    }

    /** Why all points may be outside. */
    private String why(List<double[]> points, double[] box) {
        boolean exchanged = true;
        int degrees = 0;
        for (double[] point : points) {
            exchanged &= inside(point[1], point[0], box);
            degrees += inside(point[0], point[1], DEGREES) ? 1 : 0;
        }
        boolean small = inside(box[0], box[1], DEGREES) && inside(box[2], box[3], DEGREES);
        if (exchanged) {
            return ", and all would be inside with x and y exchanged: x (the longitude or the easting) comes first.";
        }
        if (GEOGRAPHIC.contains(plan.crs) && degrees == 0) {
            return ": the bounds are in degrees, the points are not.";
        }
        return !small && degrees == points.size()
                ? ": they look like degrees, and the bounds are in other units."
                : ": the trips are from another area than the plan, or in other coordinates.";
    }

    private void times() {
        int unknown = 0;
        int backwards = 0;
        boolean large = false;
        for (Trajectory trip : full) {
            double first = trip.t(0);
            double last = trip.t(trip.size() - 1);
            unknown += Occasion.isClock(first) && Occasion.isClock(last) ? 0 : 1;
            backwards += first > last ? 1 : 0;
            large |= isLarge(first) || isLarge(last);
        }
        share("Trips without a time at the first or the last point (the plan asks about time; t is in local seconds)", unknown,
                full.size());
        milliseconds("times", large);
        share("Trips that end before they begin", backwards, full.size());
    }

    private void arrivals() {
        int unknown = 0;
        boolean large = false;
        for (Trajectory trip : full) {
            unknown += Standing.isDated(trip.arrival()) ? 0 : 1;
            large |= isLarge(trip.arrival());
        }
        share("Trips without an arrival (the Unix time at which the trip ended), which belong to no window", unknown, full.size());
        milliseconds("arrivals", large);
    }

    private void windows(Book.Row row, double now) {
        Standing standing = plan.standing;
        if (row == null) {
            lines.add("The plan was not accepted yet: the first call accepts it, and answers nothing.");
            return;
        }
        long latest = standing.latest(standing.seconds(now), row.phase);
        boolean due = Standing.isWindow(latest) && latest > row.last;
        long window = due ? latest : row.last + 1;
        long end = standing.end(window, row.phase);
        int recent = standing.eligible(full, window, row.phase, row.accepted).size();
        lines.add(due ? "An answer is due now." : "No answer is due before " + Explanation.moment(end) + ".");
        lines.add("Trips that arrived after " + Explanation.moment(Math.max(end - standing.recent, row.accepted))
                + " and not after " + Explanation.moment(end) + ": " + recent + " of " + full.size() + ".");
        if (due) {
            outcome(recent);
        } else if (row.report != null) {
            lines.add("The last report was not sent: its bytes are returned again.");
        }
    }

    private void earlier(Book book, int round) {
        for (Book.Entry entry : book.entries) {
            if (entry.root.equals(plan.root()) && entry.round == round) {
                lines.add(entry.report == null || !entry.plan.equals(plan.id)
                        ? "This round was answered: the device refuses to answer it again."
                        : "This round was answered: the device returns the same bytes, whatever these trips are.");
                return;
            }
        }
    }

    private void outcome(int trips) {
        lines.add(trips == 0
                ? "The answer says that there is no trip, in a report that looks like any other."
                : trips == 1
                        ? "The answer is about this one trip."
                        : "The answer is about one of " + trips + " trips, which is drawn at random.");
    }

    private void milliseconds(String what, boolean large) {
        if (large) {
            lines.add("Some " + what + " are so large that they seem to be milliseconds; they count as unknown.");
        }
    }

    /** A line about some of many; nothing where there are none. */
    private void share(String label, int number, int whole) {
        if (number > 0) {
            lines.add(label + ": " + number + " of " + whole + ".");
        }
    }

    private static boolean inside(double x, double y, double[] box) {
        return box[0] <= x && x <= box[2] && box[1] <= y && y <= box[3];
    }

    /** Whether this is a number, and larger than clocks show. */
    private static boolean isLarge(double seconds) {
        return seconds == seconds && !Double.isInfinite(seconds) && !Occasion.isClock(seconds);
    }

    private static String digits6(double value) {
        return Decimals.general(value, 6);
    }
}
