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
    private static final BigDecimal MOST_DELTA = new BigDecimal("0.00001");

    private final Storage storage;
    private final BigDecimal newLimit;
    private BigDecimal newLocal;
    private BigDecimal newMostLocal;
    private Boolean newShuffled;

    /** The ledger in this storage, with the limit that it has; a new one has the limit 5. */
    public Ledger(Storage storage) {
        this(storage, null);
    }

    /** The same, with this limit from now on: the most epsilon that this person gives away in all. Only the person sets it. */
    public Ledger(Storage storage, String limit) {
        this.storage = storage;
        this.newLimit = limit == null ? null : decimal(limit);
    }

    /** From now on, the limit if a shuffler and a curator work together; a new ledger has 30, or its limit if that is larger. */
    public Ledger localLimit(String limit) {
        newLocal = decimal(limit);
        return this;
    }

    /** From now on, the most epsilon that one shuffled answer may cost in that case; a new ledger has 6. */
    public Ledger mostLocal(String most) {
        newMostLocal = decimal(most);
        return this;
    }

    /** From now on, whether shuffled plans are answered at all. */
    public Ledger shuffled(boolean answered) {
        newShuffled = answered;
        return this;
    }

    private static BigDecimal decimal(String limit) {
        if (!limit.matches(Book.DECIMAL)) {
            throw new IllegalArgumentException("a limit is a decimal with at most 18 digits after the point, got " + limit);
        }
        return new BigDecimal(limit);
    }

    /** Draws the report of a window; 0 in a plan that is not standing. */
    interface Draw {
        byte[] report(long window, List<Trajectory> candidates);
    }

    /** Stores these settings at once; an answer does so, too. */
    public void store() throws IOException {
        change(book -> true);
    }

    /** Epsilon given away so far, a decimal. */
    public String spent() throws IOException {
        return Decimals.plain(book().spent());
    }

    /** The most epsilon that is given away in all, a decimal. */
    public String limit() throws IOException {
        return Decimals.plain(book().limit);
    }

    /** Epsilon given away so far if shufflers and curators work together, a decimal. */
    public String spentLocally() throws IOException {
        return Decimals.plain(book().costs().local);
    }

    /** The sum of the deltas of all shuffled answers, a decimal. */
    public String delta() throws IOException {
        return Decimals.plain(book().costs().delta);
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
            Book.Entry entry = new Book.Entry(plan.root(), plan.id, plan.epsilon, number, answer[0]);
            entry.central = plan.shuffled == null ? null : plan.shuffled.epsilon;
            entry.delta = plan.shuffled == null ? null : plan.shuffled.delta;
            book.entries.add(entry);
            return true;
        });
        return answer[0];
    }

    /** The entry whose bytes are the answer again, or null where a fresh report may be drawn. */
    private static Book.Entry earlier(Book book, Plan plan, int number) throws PlanRefused {
        checkWanted(book, plan);
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
        checkMost(book, plan);
        checkLimits(book, known ? Costs.NOTHING : Costs.ofAnswer(plan));
        return null;
    }

    private static void checkWanted(Book book, Plan plan) throws PlanRefused {
        if (plan.shuffled != null && !book.shuffled) {
            throw new PlanRefused(Problem.PLAN_NOT_WANTED);
        }
    }

    private static void checkMost(Book book, Plan plan) throws PlanRefused {
        if (plan.shuffled != null && plan.epsilon.compareTo(book.mostLocal) > 0) {
            throw new PlanRefused(
                    Problem.PLAN_OVER_LIMIT,
                    "if shuffler and curator work together, one answer costs epsilon " + Decimals.plain(plan.epsilon) + ", more than "
                            + Decimals.plain(book.mostLocal));
        }
    }

    private static void checkLimits(Book book, Costs costs) throws PlanRefused {
        Costs spent = book.costs();
        check("epsilon", spent.central, costs.central, book.limit);
        check("delta", spent.delta, costs.delta, MOST_DELTA);
        check("epsilon if shuffler and curator work together", spent.local, costs.local, book.localLimit());
    }

    private static void check(String what, BigDecimal spent, BigDecimal cost, BigDecimal limit) throws PlanRefused {
        if (spent.add(cost).compareTo(limit) > 0) {
            throw new PlanRefused(
                    Problem.PLAN_OVER_LIMIT,
                    "the plan costs " + what + " " + Decimals.plain(cost) + ", " + Decimals.plain(spent) + " of the limit "
                            + Decimals.plain(limit) + " is spent");
        }
    }

    /** Draws and keeps the phase of a standing plan, if that was not done before. */
    void accept(Plan plan, double now, Source source) throws IOException, PlanRefused {
        tryChange(book -> {
            checkWanted(book, plan);
            if (book.row(plan) != null) {
                return false;
            }
            Costs total = Costs.ofAcceptance(plan);
            if (plan.shuffled != null) {
                checkMost(book, plan);
                checkLimits(book, total);
            }
            Standing standing = plan.standing;
            long seconds = standing.seconds(now);
            Book.Row row = new Book.Row(plan.id, plan.epsilon, source.below(standing.every), seconds);
            row.last = Math.max(-1, standing.latest(seconds, row.phase));
            if (plan.shuffled != null) {
                row.central = plan.shuffled.epsilon;
                row.delta = plan.shuffled.delta;
                row.total = total.local;
            }
            return book.rows.add(row);
        });
    }

    /** The report for the window that ended last: the one drawn before, or a fresh one if the window was not answered. */
    byte[] answerAt(Plan plan, double now, List<Trajectory> trips, Draw draw) throws IOException, PlanRefused {
        accept(plan, now, Source.ofSystem());
        byte[][] answer = new byte[1][];
        tryChange(book -> {
            checkWanted(book, plan);
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
            checkMost(book, plan);
            checkLimits(book, Costs.ofAnswer(plan));
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

    /** The window that unsent bytes of this plan belong to; -1 where it has none. An error for any other bytes. */
    long windowOf(Plan plan, byte[] report) throws IOException {
        Book book = book();
        Book.Row row = book.row(plan);
        if (row != null && Arrays.equals(row.report, report)) {
            return row.last;
        }
        for (Book.Entry entry : book.entries) {
            if (entry.plan.equals(plan.id) && Arrays.equals(entry.report, report)) {
                return -1;
            }
        }
        throw new IOException("these bytes are not the report to this plan that the ledger holds to be sent");
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
            book.local = newLocal == null ? book.local : newLocal;
            book.mostLocal = newMostLocal == null ? book.mostLocal : newMostLocal;
            book.shuffled = newShuffled == null ? book.shuffled : newShuffled;
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
