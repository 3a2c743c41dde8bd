package org.ldptrace.device;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;

/**
 * What this person has already said, to which plan, and what it cost: section 9 of the protocol. One person has one ledger.
 *
 * <p>A report is entered before anyone can send it, and its bytes are kept until it was sent: a fresh draw would be a second
 * answer, and two answers tell more than one.
 */
public final class Ledger {
    private static final BigDecimal DEFAULT_LIMIT = BigDecimal.valueOf(5);

    private final Storage storage;
    private final BigDecimal newLimit;

    /** The ledger in this storage, with the limit that it has; a new one has the limit 5. */
    public Ledger(Storage storage) {
        this(storage, null);
    }

    /** The same, with this limit from now on: the most epsilon that this person gives away in all. Only the person sets it. */
    public Ledger(Storage storage, String limit) {
        if (limit != null && !limit.matches(Book.DECIMAL)) {
            throw new IllegalArgumentException("a limit is a decimal with at most 18 digits after the point, got " + limit);
        }
        this.storage = storage;
        this.newLimit = limit == null ? null : new BigDecimal(limit);
    }

    /** Draws the report of a window; 0 in a plan that is not standing. */
    interface Draw {
        byte[] report(long window, List<Trajectory> candidates);
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
        change(book -> {
            found[0] = book;
            return false;
        });
        return found[0];
    }

    /** The report for a round: the one drawn before if it was not sent yet, a fresh draw if that is allowed. */
    byte[] answer(Plan plan, int number, List<Trajectory> trips, Draw draw) throws IOException, PlanRefused {
        byte[][] answer = new byte[1][];
        tryChange(book -> {
            Book.Entry earlier = earlier(book, plan, number);
            if (earlier != null) {
                answer[0] = earlier.report;
                return false;
            }
            answer[0] = draw.report(0, trips);
            book.entries.add(new Book.Entry(plan.root(), plan.id, plan.epsilon, number, answer[0]));
            return true;
        });
        return answer[0];
    }

    /** The entry whose bytes are the answer again, or null where a fresh report may be drawn. */
    private static Book.Entry earlier(Book book, Plan plan, int number) throws PlanRefused {
        boolean known = false;
        boolean forked = false;
        for (Book.Entry entry : book.entries) {
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
        checkLimit(book, known ? BigDecimal.ZERO : plan.epsilon);
        return null;
    }

    private static void checkLimit(Book book, BigDecimal cost) throws PlanRefused {
        if (book.spent().add(cost).compareTo(book.limit) > 0) {
            throw new PlanRefused(
                    Problem.PLAN_OVER_LIMIT,
                    "the answer costs epsilon " + Decimals.plain(cost) + ", " + Decimals.plain(book.spent()) + " of the limit "
                            + Decimals.plain(book.limit) + " is spent");
        }
    }

    /** Draws and keeps the phase of a standing plan, if that was not done before. */
    void accept(Plan plan, double now, Source source) throws IOException {
        change(book -> {
            if (book.row(plan) != null) {
                return false;
            }
            Standing standing = plan.standing;
            long seconds = standing.seconds(now);
            Book.Row row = new Book.Row(plan.id, plan.epsilon, source.below(standing.every), seconds);
            row.last = Math.max(-1, standing.latest(seconds, row.phase));
            return book.rows.add(row);
        });
    }

    /** The report for the window that ended last: the one drawn before, or a fresh one if the window was not answered. */
    byte[] answerAt(Plan plan, double now, List<Trajectory> trips, Draw draw) throws IOException, PlanRefused {
        accept(plan, now, Source.ofSystem());
        byte[][] answer = new byte[1][];
        tryChange(book -> {
            Book.Row row = book.row(plan);
            long window = plan.standing.latest(plan.standing.seconds(now), row.phase);
            if (window <= row.last || !Standing.isWindow(window)) {
                if (row.report == null) {
                    throw notDue(plan, row);
                }
                answer[0] = row.report;
                return false;
            }
            if (row.spent(row.answers + 1).compareTo(plan.standing.lifetime) > 0) {
                throw new PlanRefused(Problem.PLAN_LIFETIME);
            }
            checkLimit(book, plan.epsilon);
            answer[0] = draw.report(window, plan.standing.eligible(trips, window, row.phase, row.accepted));
            row.last = window;
            row.answers++;
            row.report = answer[0];
            return true;
        });
        return answer[0];
    }

    private static PlanRefused notDue(Plan plan, Book.Row row) {
        long due = plan.standing.end(row.last + 1, row.phase);
        return new PlanRefused(Problem.PLAN_NOT_DUE, "the next answer is due at the Unix time " + due);
    }

    /** This report has arrived: its bytes are forgotten, that it was given is kept. */
    void sent(byte[] report) throws IOException {
        change(book -> {
            boolean changed = false;
            for (Book.Entry entry : book.entries) {
                if (Arrays.equals(entry.report, report)) {
                    entry.report = null;
                    changed = true;
                }
            }
            for (Book.Row row : book.rows) {
                if (Arrays.equals(row.report, report)) {
                    row.report = null;
                    changed = true;
                }
            }
            return changed;
        });
    }

    /** Changes a book; tells whether the change is to be kept. */
    private interface Work {
        boolean on(Book book) throws IOException, PlanRefused;
    }

    private void tryChange(Work work) throws IOException, PlanRefused {
        storage.change(text -> {
            Book book = text == null ? new Book(DEFAULT_LIMIT) : Book.read(text);
            book.limit = newLimit == null ? book.limit : newLimit;
            return work.on(book) ? book.write() : null;
        });
    }

    /** A change that does not depend on a plan's being answered. */
    private void change(Work work) throws IOException {
        try {
            tryChange(work);
        } catch (PlanRefused never) {
            throw new IllegalStateException(never);
        }
    }
}
