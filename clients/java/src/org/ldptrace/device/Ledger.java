package org.ldptrace.device;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What this person has already said, to which plan, and what it cost: section 9 of the protocol. One person has one ledger.
 *
 * <p>A report is entered before anyone can send it, and its bytes are kept until it was sent: a fresh draw would be a second
 * answer, and two answers tell more than one.
 */
public final class Ledger {
    static final String FORMAT = "ldptrace-ledger-java";
    private static final String DECIMAL = "(0|[1-9][0-9]{0,5})(\\.[0-9]{0,17}[1-9])?";
    private static final BigDecimal DEFAULT_LIMIT = BigDecimal.valueOf(5);

    private final Storage storage;
    private final BigDecimal newLimit;

    /** The ledger in this storage, with the limit that it has; a new one has the limit 5. */
    public Ledger(Storage storage) {
        this(storage, null);
    }

    /** The same, with this limit from now on: the most epsilon that this person gives away in all. */
    public Ledger(Storage storage, String limit) {
        if (limit != null && !limit.matches(DECIMAL)) {
            throw new IllegalArgumentException("a limit is a decimal with at most 18 digits after the point, got " + limit);
        }
        this.storage = storage;
        this.newLimit = limit == null ? null : new BigDecimal(limit);
    }

    /** Draws a report when none was drawn before. */
    interface Draw {
        byte[] report();
    }

    /** One answered round. The bytes of the report are null once it was sent. */
    static final class Entry {
        final String root;
        final BigDecimal epsilon;
        final String plan;
        final int round;
        final byte[] report;

        Entry(String root, BigDecimal epsilon, String plan, int round, byte[] report) {
            this.root = root;
            this.epsilon = epsilon;
            this.plan = plan;
            this.round = round;
            this.report = report;
        }

        boolean answers(Plan other, int number) {
            return plan.equals(other.id) && round == number;
        }
    }

    /** What the ledger says at one moment. */
    static final class Book {
        final BigDecimal limit;
        final List<Entry> entries;

        Book(BigDecimal limit, List<Entry> entries) {
            this.limit = limit;
            this.entries = entries;
        }

        /** Every root costs its epsilon once. */
        BigDecimal spent() {
            Map<String, BigDecimal> costs = new TreeMap<>();
            for (Entry entry : entries) {
                costs.put(entry.root, entry.epsilon);
            }
            BigDecimal sum = BigDecimal.ZERO;
            for (BigDecimal cost : costs.values()) {
                sum = sum.add(cost);
            }
            return sum;
        }
    }

    /** Epsilon given away so far, a decimal. */
    public String spent() throws IOException {
        return Decimals.plain(book().spent());
    }

    /** The most epsilon that is given away in all, a decimal. */
    public String limit() throws IOException {
        return Decimals.plain(book().limit);
    }

    Book book() throws IOException {
        Book[] found = new Book[1];
        try {
            storage.change(text -> {
                found[0] = read(text);
                return null;
            });
        } catch (PlanRefused never) {
            throw new IllegalStateException(never);
        }
        return found[0];
    }

    /** The report for this round: the one drawn before if it was not sent yet, a fresh draw if that is allowed. */
    byte[] answer(Plan plan, int number, Draw draw) throws IOException, PlanRefused {
        byte[][] answer = new byte[1][];
        storage.change(text -> {
            Book book = read(text);
            Entry earlier = earlier(book, plan, number);
            if (earlier != null) {
                answer[0] = earlier.report;
                return null;
            }
            answer[0] = draw.report();
            book.entries.add(new Entry(plan.root(), plan.epsilon, plan.id, number, answer[0]));
            return write(book);
        });
        return answer[0];
    }

    /** The entry whose bytes are the answer again, or null where a fresh report may be drawn. */
    private static Entry earlier(Book book, Plan plan, int number) throws PlanRefused {
        boolean known = false;
        boolean forked = false;
        for (Entry entry : book.entries) {
            if (!entry.root.equals(plan.root())) {
                continue;
            }
            if (entry.round == number) {
                if (entry.report == null || !entry.plan.equals(plan.id)) {
                    throw new PlanRefused(Problem.PLAN_ANSWERED);
                }
                return entry;
            }
            known = true;
            forked |= !plan.chain.contains(entry.plan);
        }
        if (forked) {
            throw new PlanRefused(Problem.PLAN_FORKED);
        }
        BigDecimal cost = known ? BigDecimal.ZERO : plan.epsilon;
        if (book.spent().add(cost).compareTo(book.limit) > 0) {
            throw new PlanRefused(
                    Problem.PLAN_OVER_LIMIT,
                    "the plan costs epsilon " + Decimals.plain(cost) + ", " + Decimals.plain(book.spent()) + " of the limit "
                            + Decimals.plain(book.limit) + " is spent");
        }
        return null;
    }

    /** The report has arrived: its bytes are forgotten, that it was given is kept. */
    void sent(Plan plan, int number) throws IOException {
        try {
            storage.change(text -> {
                Book book = read(text);
                boolean changed = false;
                for (int i = 0; i < book.entries.size(); i++) {
                    Entry entry = book.entries.get(i);
                    if (entry.answers(plan, number) && entry.report != null) {
                        book.entries.set(i, new Entry(entry.root, entry.epsilon, entry.plan, entry.round, null));
                        changed = true;
                    }
                }
                return changed ? write(book) : null;
            });
        } catch (PlanRefused never) {
            throw new IllegalStateException(never);
        }
    }

    private Book read(String text) throws IOException {
        if (text == null) {
            return new Book(newLimit == null ? DEFAULT_LIMIT : newLimit, new ArrayList<>());
        }
        try {
            Fields fields = Fields.of(Json.parse(text), "the ledger").only("entries", "format", "limit", "version");
            fields.text("format", FORMAT);
            fields.whole("version", 1, 1);
            BigDecimal limit = new BigDecimal(fields.text("limit", DECIMAL));
            List<Entry> entries = new ArrayList<>();
            for (Object entry : fields.list("entries", 0, Integer.MAX_VALUE)) {
                entries.add(entryOf(Fields.of(entry, "an entry").only("epsilon", "plan", "report", "root", "round")));
            }
            return new Book(newLimit == null ? limit : newLimit, entries);
        } catch (Json.Malformed | PlanRefused wrong) {
            throw new IOException("the ledger cannot be read: " + wrong.getMessage());
        }
    }

    private static Entry entryOf(Fields fields) throws PlanRefused {
        String report = fields.textOrNull("report", "([0-9a-f]{2})*");
        return new Entry(
                fields.text("root", "[0-9a-f]{64}"),
                new BigDecimal(fields.text("epsilon", DECIMAL)),
                fields.text("plan", "[0-9a-f]{64}"),
                fields.integer("round", 0, 15),
                report == null ? null : Bytes.ofHex(report));
    }

    private static String write(Book book) {
        List<Object> entries = new ArrayList<>();
        for (Entry entry : book.entries) {
            Map<String, Object> written = new LinkedHashMap<>();
            written.put("root", entry.root);
            written.put("epsilon", Decimals.plain(entry.epsilon));
            written.put("plan", entry.plan);
            written.put("round", (long) entry.round);
            written.put("report", entry.report == null ? null : Bytes.hex(entry.report));
            entries.add(written);
        }
        Map<String, Object> written = new LinkedHashMap<>();
        written.put("format", FORMAT);
        written.put("version", 1L);
        written.put("limit", Decimals.plain(book.limit));
        written.put("entries", entries);
        try {
            return Json.write(written);
        } catch (Json.Malformed never) {
            throw new IllegalStateException(never);
        }
    }
}
