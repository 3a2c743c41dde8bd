package org.ldptrace.device;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/** A plan that is answered once in every window of time, until its lifetime is spent. Sections 3.5 and 9.2 of the protocol. */
public final class Standing {
    private static final long MOST_SECONDS = 31622400;
    private static final long LAST_START = 253402300799L;
    private static final long LAST_WINDOW = (1L << 32) - 1;
    private static final BigDecimal MOST_LIFETIME = BigDecimal.valueOf(999);
    /** Arrivals below this are times of a day without a date. */
    private static final double UNDATED = 172800;

    /** Seconds from the end of one window to the end of the next. */
    public final int every;
    /** An answer is about trips that arrived within this many seconds before the end of its window. */
    public final int recent;
    /** Unix time from which windows are counted. */
    public final long start;
    /** Seconds that a report may be on its way. */
    public final int grace;
    /** What all answers of one device together spend at most. */
    public final BigDecimal lifetime;

    Standing(Object document, BigDecimal epsilon) throws PlanRefused {
        Fields fields = Fields.of(document, "standing").only("every", "grace", "lifetime", "recent", "start");
        every = fields.integer("every", 60, MOST_SECONDS);
        recent = fields.integer("recent", 1, every);
        grace = fields.integer("grace", 0, every);
        start = fields.whole("start", 0, LAST_START);
        lifetime = new BigDecimal(fields.text("lifetime", "(0|[1-9][0-9]{0,2})(\\.[0-9]{0,17}[1-9])?"));
        if (lifetime.compareTo(epsilon) < 0 || lifetime.compareTo(MOST_LIFETIME) > 0) {
            throw fields.wrong("lifetime", "at least epsilon and at most " + MOST_LIFETIME);
        }
    }

    /** Unix time at which a window ends for a device with this phase. */
    long end(long window, int phase) {
        return start + window * every + phase;
    }

    /** The clock in full seconds; one that is broken counts as one before the start. */
    long seconds(double now) {
        return Occasion.isClock(now) ? (long) Math.floor(now) : start - 1;
    }

    /** The last window that has ended at this second; negative where none has. */
    long latest(long seconds, int phase) {
        return Floor.div(seconds - start - phase, every);
    }

    static boolean isWindow(long window) {
        return window >= 0 && window <= LAST_WINDOW;
    }

    /** Whether an arrival can be a Unix time: neither broken nor a time of a day without a date. */
    static boolean isDated(double arrival) {
        return Occasion.isClock(arrival) && Math.abs(arrival) >= UNDATED;
    }

    /** The trips that a window is about: their recorded arrivals alone decide. */
    List<Trajectory> eligible(List<Trajectory> trips, long window, int phase, long accepted) {
        List<Trajectory> found = new ArrayList<>();
        long end = end(window, phase);
        for (Trajectory trip : trips) {
            double arrival = trip.arrival();
            if (isDated(arrival) && arrival > Math.max(end - recent, accepted) && arrival <= end) {
                found.add(trip);
            }
        }
        return found;
    }
}
