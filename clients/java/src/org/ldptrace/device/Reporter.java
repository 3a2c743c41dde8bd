package org.ldptrace.device;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Answers the rounds of one plan, or the windows of a standing plan. Nothing else leaves the device.
 *
 * <p>An app asks when its schedule says so, never because of a trip: {@link #report} answers whatever the trips are, also
 * without any.
 */
public final class Reporter {
    private static final int HOUR = 3600;

    public final Plan plan;
    private final Ledger ledger;

    /** A reporter for trajectories in the coordinates `crs`, for example EPSG:4326; null if they have no name. */
    public Reporter(Plan plan, Ledger ledger, String crs) throws PlanRefused {
        if (ledger == null) {
            throw new IllegalArgumentException("a reporter needs a ledger: it remembers what was answered");
        }
        if (!plan.isPrivate()) {
            throw new PlanRefused(Problem.PLAN_NOT_PRIVATE);
        }
        if (crs != null && plan.crs != null && !crs.equals(plan.crs)) {
            throw new PlanRefused(
                    Problem.PLAN_OTHER_COORDINATES, "the plan's bounds are in " + plan.crs + ", the trajectory in " + crs);
        }
        this.plan = plan;
        this.ledger = ledger;
    }

    /** What was given so far and what the newest round asks, in sentences for the person whose device this is. */
    public List<String> explain() throws IOException {
        return explain(newest(), clock());
    }

    /** The same for a round, counted from 0, and a clock that shows this Unix time. */
    public List<String> explain(int round, double now) throws IOException {
        List<String> lines = Explanation.ofLedger(ledger.book(), plan, now);
        lines.addAll(Explanation.ofAsking(plan, round));
        return lines;
    }

    /** The plan's id, and what is spent and left: to show before the device answers. */
    public String headline() throws IOException {
        return Explanation.ofPlan(ledger.book(), plan);
    }

    /**
     * What the device would make of these trips, in sentences: nothing is drawn, stored, spent or sent. The device answers for any
     * trips, so only this tells of points outside the bounds, exchanged axes, or missing times.
     */
    public List<String> check(List<Trajectory> trips) throws IOException, PlanRefused {
        return check(trips, newest(), clock());
    }

    /** The same for a round, counted from 0, and a clock that shows this Unix time: to try out rounds and clocks. */
    public List<String> check(List<Trajectory> trips, int round, double now) throws IOException, PlanRefused {
        checkRound(round);
        return Checking.of(plan, round, trips, ledger.book(), now);
    }

    /** What the bytes of a report say, in sentences. */
    public List<String> explain(byte[] report) throws ReportRejected {
        return Explanation.ofReport(plan, report);
    }

    /** What was given so far and what the limit is, in a few words. */
    public String given() throws IOException {
        Book book = ledger.book();
        String text = "epsilon " + Decimals.plain(book.spent()) + " of " + Decimals.plain(book.limit) + " is spent";
        return plan.shuffled == null
                ? text
                : text + "; " + Decimals.plain(book.costs().local) + " of " + Decimals.plain(book.localLimit())
                        + " if shuffler and curator work together";
    }

    /** The person accepts a standing plan: its windows are counted from now on. The first report does the same. */
    public void accept() throws IOException, PlanRefused {
        accept(clock());
    }

    /** The same with a clock that shows this Unix time: to try out clocks. */
    public void accept(double now) throws IOException, PlanRefused {
        if (plan.standing != null) {
            ledger.accept(plan, now, Source.ofSystem());
        }
    }

    /**
     * The bytes to send for the newest round, or for the window that ended last: about one of these trips, drawn at random,
     * or about none. The same bytes until they were {@link #sent}.
     */
    public byte[] report(List<Trajectory> trips) throws IOException, PlanRefused {
        return report(trips, newest(), clock());
    }

    /** The same about one trip. */
    public byte[] report(Trajectory trip) throws IOException, PlanRefused {
        return report(Collections.singletonList(trip));
    }

    /** The same for a round, counted from 0, and a clock that shows this Unix time: to try out rounds and clocks. */
    public byte[] report(List<Trajectory> trips, int round, double now) throws IOException, PlanRefused {
        checkRound(round);
        List<Trajectory> nonempty = new ArrayList<>();
        for (Trajectory trip : trips) {
            if (trip.size() > 0) {
                nonempty.add(trip);
            }
        }
        Ledger.Draw draw = (window, candidates) -> draw(candidates, round, window);
        return plan.standing == null
                ? ledger.answer(plan, round, nonempty, draw)
                : ledger.answerAt(plan, now, nonempty, draw);
    }

    /**
     * Seconds to wait before sending, drawn anew for every report and without regard to trips: up to an hour, or in a standing
     * plan up to its grace, which is how long a finished report may take to arrive.
     */
    public int delay() {
        return delay(plan.standing == null ? HOUR : plan.standing.grace);
    }

    /** The same with another longest time. */
    public int delay(int most) {
        return Source.ofSystem().below(most + 1);
    }

    /** Tells the ledger that this report arrived: it will not be given again. */
    public void sent(byte[] report) throws IOException {
        ledger.sent(report);
    }

    private void checkRound(int round) throws PlanRefused {
        if (round < 0 || round > newest()) {
            throw new PlanRefused(Problem.PLAN_NO_SUCH_ROUND);
        }
    }

    /**
     * Where this report goes. A direct plan is answered to the campaign at this address, such as
     * https://host/v1/campaigns/NAME. A shuffled plan is answered to the shuffler that it names and to nobody else: its campaign
     * must be null.
     */
    public String destination(byte[] report, String campaign) throws IOException {
        if (plan.shuffled == null) {
            if (campaign == null) {
                throw new IllegalArgumentException("say where the report goes: https://host/v1/campaigns/NAME");
            }
            return campaign.endsWith("/reports") ? campaign : campaign.replaceAll("/+$", "") + "/reports";
        }
        if (campaign != null) {
            throw new IllegalArgumentException("a shuffled plan is sent to its shuffler, " + plan.shuffled.address);
        }
        long window = ledger.windowOf(plan, report);
        String place = window < 0 ? "" : "/windows/" + window;
        return plan.shuffled.address.replaceAll("/+$", "") + "/v2/plans/" + plan.id + place + "/reports";
    }

    /** The media type of what is sent. */
    public String mediaType() {
        return plan.shuffled == null ? "application/vnd.ldptrace.reports" : "application/vnd.ldptrace.sealed";
    }

    /**
     * Whether a server's answer says that the report arrived. Only then call {@link #sent}; otherwise send the same bytes again
     * later.
     */
    public boolean hasArrived(int status, String body) {
        boolean before = status == 409 && body.contains("urn:ldptrace:problem:" + Problem.DUPLICATE.code + "\"");
        return status == 200 || plan.shuffled == null && before;
    }

    /** Fresh bytes to send, which only the ledger may ask for: every draw tells more. Those of a shuffled plan are sealed. */
    byte[] draw(List<Trajectory> candidates, int round, long window) {
        byte[] report = Report.draw(plan, round, window, Occasion.of(candidates, plan.grid), Source.ofSystem());
        if (plan.shuffled == null) {
            return report;
        }
        return Seals.seal(plan.shuffled.key, Seals.info(plan.id), Seals.label(plan.standing == null ? null : window), report);
    }

    private int newest() {
        return plan.rounds.size() - 1;
    }

    private static double clock() {
        return System.currentTimeMillis() / 1000.0;
    }
}
