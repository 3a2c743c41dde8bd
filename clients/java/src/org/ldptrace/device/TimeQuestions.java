package org.ldptrace.device;

/** Questions that look at points and times. */
strictfp final class TimeQuestions {
    private static final int HOURS = 24;
    private static final String[] DAYS = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
    private static final String[] PARTS = {"at night", "in the morning", "around noon", "in the evening"};
    /** Four classes of speed to a doubling. */
    private static final double[] ROOTS = {1.0, 1.189207115002721, 1.4142135623730951, 1.681792830507429};

    private TimeQuestions() {}

    /** The question of this name, or null if it is not about times. */
    static Question of(int n, String name, Fields fields) throws PlanRefused {
        switch (name) {
            case "departure":
                fields.only("days", "name", "reach");
                int days = fields.integer("days", 1, 7);
                if (days != 1 && days != 7) {
                    throw fields.wrong("days", "1 or 7");
                }
                return new Departure(n, days, fields.integer("reach", 0, 11));
            case "pace":
                return new Pace(n, fields.only("classes", "name", "reach", "slowest", "x_scale", "y_scale"));
            case "tides":
                return new Tides(n, fields.only("centre", "name").integer("centre", 0, Grid.cells(n) - 1));
            default:
                return null;
        }
    }

    /** An item of an ordered domain with its neighbours, round the corner where the domain ends. */
    private static int[] nearby(int item, int reach, int domain) {
        int[] items = new int[2 * reach + 1];
        for (int k = 0; k < items.length; k++) {
            items[k] = Floor.mod((long) item + k - reach, domain);
        }
        return Question.set(items);
    }

    /** A question that says something of hours or speeds. */
    private abstract static class TimeQuestion extends Question {
        TimeQuestion(String name, String about, int n, int domain, int capacity) {
            super(name, about, n, domain, capacity, 1);
        }

        @Override
        final boolean isAboutTime() {
            return true;
        }
    }

    private static final class Departure extends TimeQuestion {
        private final int days;
        private final int reach;

        Departure(int n, int days, int reach) {
            super("departure", "the hour at which it begins", n, HOURS * days, 2 * reach + 1);
            this.days = days;
            this.reach = reach;
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            if (!trip.hasTimes()) {
                return one();
            }
            long hour = trip.hour();
            // Day 0 is a Monday; the first of 1970 was a Thursday.
            int day = days == 1 ? 0 : Floor.mod(Floor.div(hour, HOURS) + 3, 7);
            return one(nearby(HOURS * day + Floor.mod(hour, HOURS), reach, domain));
        }

        @Override
        public String words(int item) {
            int hour = item % HOURS;
            return (days > 1 ? DAYS[item / HOURS] + ", " : "") + "from " + hour + " to " + (hour + 1) + " o'clock";
        }
    }

    private static final class Pace extends TimeQuestion {
        private final double xScale;
        private final double yScale;
        private final double slowest;
        private final int reach;

        Pace(int n, Fields fields) throws PlanRefused {
            this(n, fields, fields.integer("classes", 2, 64));
        }

        private Pace(int n, Fields fields, int classes) throws PlanRefused {
            super("pace", "its mean speed", n, classes, 2 * fields.integer("reach", 0, (classes - 1) / 2) + 1);
            reach = fields.integer("reach", 0, (classes - 1) / 2);
            xScale = fields.whole("x_scale", 1, 1000000000000L);
            yScale = fields.whole("y_scale", 1, 1000000000000L);
            slowest = fields.whole("slowest", 1, 1000000000L);
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            if (!trip.hasTimes() || !(trip.arrival > trip.departure)) {
                return one();
            }
            double speed = way(trip.points) * 3.6 / (trip.arrival - trip.departure);
            if (!(speed >= 0 && speed < Double.POSITIVE_INFINITY)) {
                return one();
            }
            int item = 0;
            while (item < domain - 1 && speed >= edge(item)) {
                item++;
            }
            return one(nearby(item, reach, domain));
        }

        /** Length along the points in millimetres, added up in their order. */
        private double way(Trajectory points) {
            double way = 0;
            for (int k = 1; k < points.size(); k++) {
                double x = (points.x(k) - points.x(k - 1)) * xScale;
                double y = (points.y(k) - points.y(k - 1)) * yScale;
                way += Math.sqrt(x * x + y * y);
            }
            return way;
        }

        /** Lower end of class k + 1 in metres per hour. */
        private double edge(int k) {
            return slowest * ROOTS[k % 4] * (1L << k / 4);
        }

        @Override
        public String words(int item) {
            if (item == 0) {
                return "slower than " + kilometres(0) + " km/h";
            }
            if (item + 1 == domain) {
                return kilometres(domain - 2) + " km/h or faster";
            }
            return "from " + kilometres(item - 1) + " to " + kilometres(item) + " km/h";
        }

        private String kilometres(int k) {
            return Decimals.general(edge(k) / 1000, 3);
        }
    }

    private static final class Tides extends TimeQuestion {
        private final int centre;

        Tides(int n, int centre) {
            super("tides", "the part of the day in which it leads towards the centre or away from it", n, 8, 1);
            this.centre = centre;
        }

        @Override
        int[][] answer(Occasion trip, Source source) {
            int before = distance(trip.path[0]);
            int after = distance(trip.path[trip.path.length - 1]);
            if (!trip.hasTimes() || before == after) {
                return one();
            }
            int hour = Floor.mod(trip.hour(), HOURS);
            int part = hour >= 20 ? 0 : hour / 5;
            return one(2 * part + (after > before ? 1 : 0));
        }

        /** Squared distance of a cell from the centre. */
        private int distance(int cell) {
            int i = cell / n - centre / n;
            int j = cell % n - centre % n;
            return i * i + j * j;
        }

        @Override
        public String words(int item) {
            return (item % 2 == 1 ? "away from" : "towards") + " the centre " + PARTS[item / 2];
        }
    }
}
