package org.ldptrace.device;

import java.io.File;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Every vector of the protocol against the client: prints what fails, and how many of each file were tried. */
public final class Vectors {
    static final Charset UTF8 = Charset.forName("UTF-8");

    private Vectors() {}

    /** The folder of the vectors is the only argument; its index names the files. */
    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[0]);
        for (Object name : Json.list(read(new File(folder, "index.json")))) {
            if (name.equals("seals.json")) {
                continue;
            }
            Object vectors = read(new File(folder, (String) name));
            String kind = ((String) name).replaceAll("[/.].*", "");
            int tried = vectors instanceof List ? all(kind, Json.list(vectors)) : plan(Json.object(vectors));
            System.out.println("tried " + name + " " + tried);
        }
    }

    private static Object read(File file) throws Exception {
        return Json.parse(new String(FileStorage.bytesOf(file), UTF8));
    }

    /** Tries vectors of one kind; returns how many there are. */
    private static int all(String kind, List<Object> vectors) {
        for (Object vector : vectors) {
            Map<String, Object> v = Json.object(vector);
            attempt(kind + " " + v.get("name"), () -> check(kind, v));
        }
        return vectors.size();
    }

    /** Tries all that a file says about one plan. */
    private static int plan(Map<String, Object> v) {
        int[] tried = {1};
        attempt("plan " + v.get("name"), () -> {
            plans(v);
            Plan plan = Plan.read(bytes(v.get("document")));
            for (Object report : Json.list(v.get("reports"))) {
                attempt("report of " + v.get("name") + ", " + Json.object(report).get("name"), () -> reports(plan, Json.object(report)));
            }
            for (Object report : Json.list(v.get("rejected_reports"))) {
                attempt("rejected by " + v.get("name") + ", " + Json.object(report).get("name"), () -> rejectedReports(plan, Json.object(report)));
            }
            for (Object tally : Json.list(v.get("tallies"))) {
                attempt("tally of " + v.get("name"), () -> tallies(plan, Json.object(tally)));
            }
        });
        for (String kind : new String[] {"reports", "rejected_reports", "tallies"}) {
            tried[0] += Json.list(v.get(kind)).size();
        }
        return tried[0];
    }

    private static void attempt(String name, Action action) {
        try {
            action.run();
        } catch (Exception | AssertionError wrong) {
            System.out.println("FAILED " + name + ": " + wrong);
        }
    }

    private static void check(String kind, Map<String, Object> v) throws Exception {
        switch (kind) {
            case "integers":
                integers(v);
                return;
            case "paths":
                paths(v);
                return;
            case "questions":
                questions(v);
                return;
            case "randomizers":
                randomizers(v);
                return;
            case "refused_plans":
                refusedPlans(v);
                return;
            case "occasions":
                Windows.occasion(v);
                return;
            case "windows":
                Windows.check(v);
                return;
            case "ledgers":
                if (v.containsKey("limit")) {
                    Ledgers.check(v);
                } else {
                    Sums.check(v);
                }
                return;
            case "accountant":
                accountant(v);
                return;
            default:
                throw new AssertionError("there is no check of such vectors");
        }
    }

    private static void integers(Map<String, Object> v) throws Exception {
        Replay replay = new Replay(v);
        Source source = new Source(replay);
        if (v.containsKey("below")) {
            same(source.below(new BigInteger((String) v.get("below"))).toString(), v.get("value"));
        } else {
            same(source.subset(ints(v.get("subset")), integer(v.get("size"))), ints(v.get("value")));
        }
        replay.usedUp();
    }

    private static void accountant(Map<String, Object> v) {
        double found = Accountant.divergence(integer(v.get("n")), number(v.get("local")), number(v.get("central")));
        if (v.containsKey("delta")) {
            same(found <= number(v.get("delta")), v.get("fits"));
        } else if (Math.abs(found - number(v.get("divergence"))) > 1e-6 * number(v.get("divergence"))) {
            throw new AssertionError("found " + found + ", wanted " + v.get("divergence"));
        }
    }

    private static void paths(Map<String, Object> v) {
        double[] bounds = new double[4];
        for (int i = 0; i < 4; i++) {
            bounds[i] = number(Json.list(v.get("bounds")).get(i));
        }
        Occasion trip = Occasion.of(trajectory(v.get("points")), 1, new Grid(bounds, integer(v.get("n"))));
        same(trip.path, ints(v.get("path")));
        same(trip.departure, number(v.get("departure")));
        same(trip.arrival, number(v.get("arrival")));
    }

    private static void questions(Map<String, Object> v) throws Exception {
        Question question = Question.of(integer(v.get("n")), v.get("question"));
        Trajectory points = v.containsKey("points") ? trajectory(v.get("points")) : new Trajectory();
        Occasion trip = new Occasion(ints(v.get("path")), points, integer(v.get("trips")), number(v.get("departure")), number(v.get("arrival")));
        Replay replay = new Replay(v);
        same(question.domain, integer(v.get("domain")));
        same(question.capacity, integer(v.get("capacity")));
        int[][] slots = question.answers(trip, new Source(replay));
        List<Object> wanted = Json.list(v.get("slots"));
        same(slots.length, wanted.size());
        for (int slot = 0; slot < slots.length; slot++) {
            same(slots[slot], ints(wanted.get(slot)));
        }
        replay.usedUp();
    }

    private static void randomizers(Map<String, Object> v) throws Exception {
        Map<String, Object> parameters = Json.object(v.get("randomizer"));
        Question like = new Question("any", "", 2, integer(parameters.get("domain")), integer(parameters.get("capacity")), 1) {
            @Override
            int[][] answer(Occasion trip, Source source) {
                throw new AssertionError();
            }

            @Override
            public String words(int item) {
                return "";
            }
        };
        Randomizer randomizer = Randomizer.of(parameters, like);
        Replay replay = new Replay(v);
        int[] named = randomizer.perturb(ints(v.get("items")), new Source(replay));
        same(named, ints(v.get("named")));
        same(Bytes.hex(randomizer.encode(named)), v.get("payload"));
        same(randomizer.decode(Bytes.ofHex((String) v.get("payload"))), ints(v.get("named")));
        near(randomizer.probabilities()[0], v.get("p"));
        near(randomizer.probabilities()[1], v.get("q"));
        replay.usedUp();
    }

    private static void plans(Map<String, Object> v) throws Exception {
        Plan plan = Plan.read(bytes(v.get("document")), (String) v.get("id"));
        same(plan.root(), v.get("root"));
        same(plan.chain, v.get("chain"));
        same(Decimals.plain(plan.epsilon), v.get("epsilon"));
        List<Object> sizes = new ArrayList<>();
        for (Round round : plan.rounds) {
            sizes.add((long) Report.size(round));
        }
        same(sizes, v.get("report_bytes"));
        same(plan.isPrivate(), v.get("private"));
        same(plan.shuffled == null ? null : Long.valueOf(plan.shuffled.hidden()), v.get("hidden"));
        String refusal = refusal(() -> new Reporter(plan, new Ledger(new Memory()), null));
        same(refusal, plan.isPrivate() ? null : "plan-not-private");
    }

    private static void refusedPlans(Map<String, Object> v) {
        char[] spaces = new char[integer(v.get("spaces"))];
        Arrays.fill(spaces, ' ');
        byte[] document = bytes(v.get("document") + new String(spaces));
        same(refusal(() -> Plan.read(document)), v.get("problem"));
    }

    private static void reports(Plan plan, Map<String, Object> v) throws Exception {
        Replay replay = new Replay(v);
        Occasion occasion = Occasion.of(trajectory(v.get("points")), integer(v.get("trips")), plan.grid);
        long window = (Long) v.get("window");
        byte[] report = Report.draw(plan, integer(v.get("round")), window, occasion, new Source(replay));
        same(Bytes.hex(report), v.get("report"));
        replay.usedUp();
    }

    private static void rejectedReports(Plan plan, Map<String, Object> v) throws Exception {
        byte[] report = Bytes.ofHex((String) v.get("report"));
        byte[] padded = Arrays.copyOf(report, report.length + integer(v.get("zeros")));
        try {
            Report.read(padded, plan, integer(v.get("round")), null);
        } catch (ReportRejected rejected) {
            same(rejected.problem.code, v.get("problem"));
            return;
        }
        throw new AssertionError("the report is read");
    }

    /** A tally made of the client's reading of reports. */
    private static void tallies(Plan plan, Map<String, Object> v) throws Exception {
        byte[] batch = Bytes.ofHex((String) v.get("batch"));
        Tally tally = new Tally(plan, integer(v.get("round")), (Long) v.get("window"));
        same(tally.add(Arrays.copyOf(batch, batch.length + integer(v.get("zeros")))), v.get("problems"));
        same(tally.document(), v.get("tally"));
    }

    interface Action {
        void run() throws Exception;
    }

    /** The code of the problem with which a plan is refused, or null. */
    static String refusal(Action action) {
        try {
            action.run();
            return null;
        } catch (PlanRefused refused) {
            return refused.problem.code;
        } catch (Exception other) {
            throw new AssertionError(other.toString());
        }
    }

    static byte[] bytes(Object text) {
        return ((String) text).getBytes(UTF8);
    }

    static int integer(Object value) {
        return (int) (long) (Long) value;
    }

    static int[] ints(Object value) {
        List<Object> list = Json.list(value);
        int[] ints = new int[list.size()];
        for (int i = 0; i < ints.length; i++) {
            ints[i] = integer(list.get(i));
        }
        return ints;
    }

    /** A number in a string (for NaN and Infinity), NaN for null. */
    static double number(Object value) {
        return value == null ? Double.NaN : Double.parseDouble(value.toString().replace("inf", "Infinity").replace("nan", "NaN"));
    }

    static Trajectory trajectory(Object points) {
        Trajectory trajectory = new Trajectory();
        for (Object entry : Json.list(points)) {
            List<Object> point = Json.list(entry);
            trajectory.add(number(point.get(0)), number(point.get(1)), point.size() > 2 ? number(point.get(2)) : Double.NaN);
        }
        return trajectory;
    }

    static void same(Object found, Object wanted) {
        boolean equal = found instanceof int[]
                ? Arrays.equals((int[]) found, (int[]) wanted)
                : found == null ? wanted == null : found.equals(wanted);
        if (!equal) {
            throw new AssertionError("found " + found + ", wanted " + wanted);
        }
    }

    private static void near(double found, Object ratio) {
        List<Object> parts = Json.list(ratio);
        double wanted = Exact.quotient(new BigInteger((String) parts.get(0)), new BigInteger((String) parts.get(1)));
        if (Math.abs(found - wanted) > 1e-14) {
            throw new AssertionError("found " + found + ", wanted " + new BigDecimal(wanted));
        }
    }

    /** Hands out the random bytes of a vector. */
    static final class Replay implements RandomBytes {
        private final byte[] data;
        private int position;

        Replay(Map<String, Object> vector) {
            this(Bytes.ofHex((String) vector.get("random")));
        }

        Replay(byte[] data) {
            this.data = data;
        }

        int position() {
            return position;
        }

        @Override
        public byte[] take(int count) {
            position += count;
            if (position > data.length) {
                throw new AssertionError("the random bytes ran out");
            }
            return Arrays.copyOfRange(data, position - count, position);
        }

        void usedUp() {
            same(position, data.length);
        }
    }

    /** A storage that only this program has. */
    static final class Memory implements Storage {
        String text;

        @Override
        public void change(Change change) throws java.io.IOException, PlanRefused {
            String changed = change.of(text);
            text = changed == null ? text : changed;
        }
    }
}
