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

    BigDecimal limit;
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

        Entry(String root, String plan, BigDecimal epsilon, int round, byte[] report) {
            this.root = root;
            this.plan = plan;
            this.epsilon = epsilon;
            this.round = round;
            this.report = report;
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

        Row(String plan, BigDecimal epsilon, int phase, long accepted) {
            this.plan = plan;
            this.epsilon = epsilon;
            this.phase = phase;
            this.accepted = accepted;
        }

        BigDecimal spent(int answers) {
            return epsilon.multiply(BigDecimal.valueOf(answers));
        }
    }

    /** What was given away: every root costs its epsilon once, every answer to a standing plan costs its epsilon. */
    BigDecimal spent() {
        Map<String, BigDecimal> costs = new TreeMap<>();
        for (Entry entry : entries) {
            costs.put(entry.root, entry.epsilon);
        }
        BigDecimal sum = BigDecimal.ZERO;
        for (BigDecimal cost : costs.values()) {
            sum = sum.add(cost);
        }
        for (Row row : rows) {
            sum = sum.add(row.spent(row.answers));
        }
        return sum;
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
            Fields fields = Fields.of(Json.parse(text), "the ledger").only("entries", "format", "limit", "standing", "version");
            fields.text("format", FORMAT);
            fields.whole("version", 1, 1);
            Book book = new Book(new BigDecimal(fields.text("limit", DECIMAL)));
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

    private static Entry entryOf(Fields fields) throws PlanRefused {
        fields.only("epsilon", "plan", "report", "root", "round");
        return new Entry(
                fields.text("root", ID),
                fields.text("plan", ID),
                new BigDecimal(fields.text("epsilon", DECIMAL)),
                fields.integer("round", 0, 15),
                bytes(fields));
    }

    private static Row rowOf(Fields fields) throws PlanRefused {
        fields.only("accepted", "answers", "epsilon", "last", "phase", "plan", "report");
        Row row = new Row(
                fields.text("plan", ID),
                new BigDecimal(fields.text("epsilon", DECIMAL)),
                fields.integer("phase", 0, Integer.MAX_VALUE),
                fields.whole("accepted", -Json.MOST_INTEGER, Json.MOST_INTEGER));
        row.last = fields.whole("last", -1, Json.MOST_INTEGER);
        row.answers = fields.integer("answers", 0, Integer.MAX_VALUE);
        row.report = bytes(fields);
        return row;
    }

    private static byte[] bytes(Fields fields) throws PlanRefused {
        String report = fields.textOrNull("report", REPORT);
        return report == null ? null : Bytes.ofHex(report);
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
            standing.add(fields);
        }
        Map<String, Object> book = new LinkedHashMap<>();
        book.put("format", FORMAT);
        book.put("version", 1L);
        book.put("limit", Decimals.plain(limit));
        book.put("entries", written);
        book.put("standing", standing);
        try {
            return Json.write(book);
        } catch (Json.Malformed never) {
            throw new IllegalStateException(never);
        }
    }
}
