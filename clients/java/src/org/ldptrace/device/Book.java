package org.ldptrace.device;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a ledger says at one moment, and its text. */
final class Book {
    private static final String FORMAT = "ldptrace-ledger-java";
    private static final String ID = "[0-9a-f]{64}";
    private static final String REPORT = "([0-9a-f]{2})*";
    static final String DECIMAL = "(0|[1-9][0-9]{0,5})(\\.[0-9]{0,17}[1-9])?";

    private static final String[] FIRST = {"entries", "format", "limit", "standing", "version"};
    private static final String[] SECOND =
            {"entries", "format", "limit", "local_limit", "most_local", "shuffled", "standing", "version"};
    private static final BigDecimal LOCAL_LIMIT = BigDecimal.valueOf(30);
    private static final BigDecimal MOST_LOCAL = BigDecimal.valueOf(6);

    BigDecimal limit;
    /** The limit if shuffler and curator work together; null: 30, or the limit if that is larger. */
    BigDecimal local;
    /** The same for one answer. */
    BigDecimal mostLocal = MOST_LOCAL;
    /** Whether shuffled plans are answered at all. */
    boolean shuffled = true;
    final List<Entry> entries = new ArrayList<>();
    final List<Row> rows = new ArrayList<>();

    Book(BigDecimal limit) {
        this.limit = limit;
    }

    /** One answered round of a plan that is not standing. The report is null once it was sent. */
    static final class Entry {
        final String root;
        final String plan;
        final BigDecimal epsilon;
        final int round;
        byte[] report;
        /** Of a shuffled plan, what the answer costs if shuffler and curator do not work together; otherwise null. */
        BigDecimal central;
        BigDecimal delta;

        Entry(String root, String plan, BigDecimal epsilon, int round, byte[] report) {
            this.root = root;
            this.plan = plan;
            this.epsilon = epsilon;
            this.round = round;
            this.report = report;
        }

        Costs costs() {
            return central == null ? new Costs(epsilon, BigDecimal.ZERO, epsilon) : new Costs(central, delta, epsilon);
        }
    }

    /** One standing plan that was accepted. */
    static final class Row {
        final String plan;
        final BigDecimal epsilon;
        /** Drawn once, never again. */
        final int phase;
        /** Unix time of acceptance. */
        final long accepted;
        /** The last window that was answered, or that had ended at acceptance. */
        long last;
        /** How many windows were answered. */
        int answers;
        /** The last report until it was sent. */
        byte[] report;
        /** Of a shuffled plan, what one answer costs, and eps0 of all answers; otherwise null. */
        BigDecimal central;
        BigDecimal delta;
        BigDecimal total;

        Row(String plan, BigDecimal epsilon, int phase, long accepted) {
            this.plan = plan;
            this.epsilon = epsilon;
            this.phase = phase;
            this.accepted = accepted;
        }

        BigDecimal spent(int answers) {
            return epsilon.multiply(BigDecimal.valueOf(answers));
        }

        Costs costs() {
            BigDecimal given = spent(answers);
            if (central == null) {
                return new Costs(given, BigDecimal.ZERO, given);
            }
            BigDecimal count = BigDecimal.valueOf(answers);
            return new Costs(central.multiply(count), delta.multiply(count), total);
        }
    }

    /** What was given away: every root costs once, every answer to a standing plan costs its own. */
    Costs costs() {
        Map<String, Costs> once = new TreeMap<>();
        for (Entry entry : entries) {
            once.put(entry.root, entry.costs());
        }
        Costs sum = Costs.NOTHING;
        for (Costs costs : once.values()) {
            sum = sum.plus(costs);
        }
        for (Row row : rows) {
            sum = sum.plus(row.costs());
        }
        return sum;
    }

    /** What was given away; of shuffled answers, the central epsilon. */
    BigDecimal spent() {
        return costs().central;
    }

    /** The limit if shuffler and curator work together. */
    BigDecimal localLimit() {
        return local == null ? LOCAL_LIMIT.max(limit) : local;
    }

    /** Whether a plan with this root was answered. */
    boolean knows(String root) {
        for (Entry entry : entries) {
            if (entry.root.equals(root)) {
                return true;
            }
        }
        return false;
    }

    /** The row of a standing plan, or null if it was not accepted. */
    Row row(Plan plan) {
        for (Row row : rows) {
            if (row.plan.equals(plan.id)) {
                return row;
            }
        }
        return null;
    }

    /** The book in a text. What cannot be read is an error: an empty book would spend twice. */
    static Book read(String text) throws IOException {
        try {
            Fields fields = Fields.of(Json.parse(text), "the ledger");
            fields.text("format", FORMAT);
            boolean isSecond = fields.whole("version", 1, 2) == 2;
            fields.only(isSecond ? SECOND : FIRST);
            Book book = new Book(new BigDecimal(fields.text("limit", DECIMAL)));
            if (isSecond) {
                book.local = decimalOrNull(fields, "local_limit");
                book.mostLocal = new BigDecimal(fields.text("most_local", DECIMAL));
                book.shuffled = fields.truth("shuffled");
            }
            for (Object entry : fields.list("entries", 0, Integer.MAX_VALUE)) {
                book.entries.add(entryOf(Fields.of(entry, "an entry")));
            }
            for (Object row : fields.list("standing", 0, Integer.MAX_VALUE)) {
                book.rows.add(rowOf(Fields.of(row, "a standing plan")));
            }
            return book;
        } catch (Json.Malformed | PlanRefused wrong) {
            throw new IOException("the ledger cannot be read: " + wrong.getMessage());
        }
    }

    private static BigDecimal decimalOrNull(Fields fields, String key) throws PlanRefused {
        String text = fields.textOrNull(key, DECIMAL);
        return text == null ? null : new BigDecimal(text);
    }

    private static Entry entryOf(Fields fields) throws PlanRefused {
        boolean isShuffled = fields.has("central");
        if (isShuffled) {
            fields.only("central", "delta", "epsilon", "plan", "report", "root", "round");
        } else {
            fields.only("epsilon", "plan", "report", "root", "round");
        }
        Entry entry = new Entry(
                fields.text("root", ID),
                fields.text("plan", ID),
                new BigDecimal(fields.text("epsilon", DECIMAL)),
                fields.integer("round", 0, 15),
                bytes(fields));
        entry.central = isShuffled ? new BigDecimal(fields.text("central", DECIMAL)) : null;
        entry.delta = isShuffled ? new BigDecimal(fields.text("delta", DECIMAL)) : null;
        return entry;
    }

    private static Row rowOf(Fields fields) throws PlanRefused {
        boolean isShuffled = fields.has("central");
        if (isShuffled) {
            fields.only("accepted", "answers", "central", "delta", "epsilon", "last", "phase", "plan", "report", "total");
        } else {
            fields.only("accepted", "answers", "epsilon", "last", "phase", "plan", "report");
        }
        Row row = new Row(
                fields.text("plan", ID),
                new BigDecimal(fields.text("epsilon", DECIMAL)),
                fields.integer("phase", 0, Integer.MAX_VALUE),
                fields.whole("accepted", -Json.MOST_INTEGER, Json.MOST_INTEGER));
        row.last = fields.whole("last", -1, Json.MOST_INTEGER);
        row.answers = fields.integer("answers", 0, Integer.MAX_VALUE);
        row.report = bytes(fields);
        row.central = isShuffled ? new BigDecimal(fields.text("central", DECIMAL)) : null;
        row.delta = isShuffled ? new BigDecimal(fields.text("delta", DECIMAL)) : null;
        row.total = isShuffled ? new BigDecimal(fields.text("total", DECIMAL)) : null;
        return row;
    }

    private static byte[] bytes(Fields fields) throws PlanRefused {
        String report = fields.textOrNull("report", REPORT);
        return report == null ? null : Bytes.ofHex(report);
    }

    private static void put(Map<String, Object> fields, String key, BigDecimal value) {
        if (value != null) {
            fields.put(key, Decimals.plain(value));
        }
    }

    /** The text of the book. */
    String write() {
        List<Object> written = new ArrayList<>();
        for (Entry entry : entries) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("root", entry.root);
            fields.put("plan", entry.plan);
            fields.put("epsilon", Decimals.plain(entry.epsilon));
            fields.put("round", (long) entry.round);
            fields.put("report", entry.report == null ? null : Bytes.hex(entry.report));
            put(fields, "central", entry.central);
            put(fields, "delta", entry.delta);
            written.add(fields);
        }
        List<Object> standing = new ArrayList<>();
        for (Row row : rows) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("plan", row.plan);
            fields.put("epsilon", Decimals.plain(row.epsilon));
            fields.put("phase", (long) row.phase);
            fields.put("accepted", row.accepted);
            fields.put("last", row.last);
            fields.put("answers", (long) row.answers);
            fields.put("report", row.report == null ? null : Bytes.hex(row.report));
            put(fields, "central", row.central);
            put(fields, "delta", row.delta);
            put(fields, "total", row.total);
            standing.add(fields);
        }
        Map<String, Object> book = new LinkedHashMap<>();
        book.put("format", FORMAT);
        book.put("version", 2L);
        book.put("limit", Decimals.plain(limit));
        book.put("local_limit", local == null ? null : Decimals.plain(local));
        book.put("most_local", Decimals.plain(mostLocal));
        book.put("shuffled", shuffled);
        book.put("entries", written);
        book.put("standing", standing);
        try {
            return Json.write(book);
        } catch (Json.Malformed never) {
            throw new IllegalStateException(never);
        }
    }
}
