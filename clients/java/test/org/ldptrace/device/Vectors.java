package org.ldptrace.device;

import java.io.File;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Every vector of the protocol against the client: prints what fails, and how many of each file were tried. */
public final class Vectors {
    static final Charset UTF8 = Charset.forName("UTF-8");

    private final Map<String, List<Object>> files;
    private final Map<String, Plan> plans = new HashMap<>();

    private Vectors(Map<String, List<Object>> files) {
        this.files = files;
    }

    /** The folder of the vectors is the only argument. */
    public static void main(String[] arguments) throws Exception {
        Map<String, List<Object>> files = new HashMap<>();
        for (File file : new File(arguments[0]).listFiles()) {
            String text = new String(FileStorage.bytesOf(file), UTF8);
            files.put(file.getName().replace(".json", ""), Json.list(Json.parse(text)));
        }
        Vectors vectors = new Vectors(files);
        for (Map.Entry<String, List<Object>> file : files.entrySet()) {
            System.out.println("tried " + file.getKey() + " " + file.getValue().size());
            for (Object vector : file.getValue()) {
                Map<String, Object> v = Json.object(vector);
                try {
                    vectors.check(file.getKey(), v);
                } catch (Exception | AssertionError wrong) {
                    System.out.println("FAILED " + file.getKey() + " " + v.get("name") + ": " + wrong);
                }
            }
        }
    }

    private void check(String file, Map<String, Object> v) throws Exception {
        switch (file) {
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
            case "plans":
                plans(v);
                return;
            case "refused_plans":
                refusedPlans(v);
                return;
            case "reports":
                reports(v);
                return;
            case "rejected_reports":
                rejectedReports(v);
                return;
            case "tallies":
                tallies(v);
                return;
            case "ledgers":
                Ledgers.check(v);
                return;
            default:
                throw new AssertionError("no check of such vectors");
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
        Occasion trip = new Occasion(ints(v.get("path")), points, trips(v), number(v.get("departure")), number(v.get("arrival")));
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
        String refusal = refusal(() -> new Reporter(plan, new Ledger(new Memory()), null));
        same(refusal, plan.isPrivate() ? null : "plan-not-private");
    }

    private static void refusedPlans(Map<String, Object> v) {
        char[] spaces = new char[integer(v.get("spaces"))];
        Arrays.fill(spaces, ' ');
        byte[] document = bytes(v.get("document") + new String(spaces));
        same(refusal(() -> Plan.read(document)), v.get("problem"));
    }

    private void reports(Map<String, Object> v) throws Exception {
        Plan plan = plan(v);
        Replay replay = new Replay(v);
        Occasion occasion = Occasion.of(trajectory(v.get("points")), trips(v), plan.grid);
        long window = v.containsKey("window") ? (Long) v.get("window") : 0;
        byte[] report = Report.draw(plan, integer(v.get("round")), window, occasion, new Source(replay));
        same(Bytes.hex(report), v.get("report"));
        replay.usedUp();
    }

    private void rejectedReports(Map<String, Object> v) throws Exception {
        byte[] report = Bytes.ofHex((String) v.get("report"));
        byte[] padded = Arrays.copyOf(report, report.length + integer(v.get("zeros")));
        try {
            Report.read(padded, plan(v), integer(v.get("round")));
        } catch (ReportRejected rejected) {
            same(rejected.problem.code, v.get("problem"));
            return;
        }
        throw new AssertionError("the report is read");
    }

    /** A tally made of the client's reading of reports. */
    private void tallies(Map<String, Object> v) throws Exception {
        Plan plan = plan(v);
        int number = integer(v.get("round"));
        byte[] batch = Bytes.ofHex((String) v.get("batch"));
        Tally tally = new Tally(plan, number);
        same(tally.add(Arrays.copyOf(batch, batch.length + integer(v.get("zeros")))), v.get("problems"));
        same(tally.document(), v.get("tally"));
    }

    private Plan plan(Map<String, Object> v) throws PlanRefused {
        String name = (String) v.get("plan");
        for (Object entry : files.get("plans")) {
            if (Json.object(entry).get("name").equals(name) && !plans.containsKey(name)) {
                plans.put(name, Plan.read(bytes(Json.object(entry).get("document"))));
            }
        }
        return plans.get(name);
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

    /** The number of trips that the one of the vector was drawn from. */
    private static int trips(Map<String, Object> v) {
        return v.containsKey("trips") ? integer(v.get("trips")) : 1;
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
            data = Bytes.ofHex((String) vector.get("random"));
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
