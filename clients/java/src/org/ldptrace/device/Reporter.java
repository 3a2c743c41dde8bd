package org.ldptrace.device;

import java.io.IOException;
import java.util.List;

/** Answers the rounds of one plan. Nothing else leaves the device. */
public final class Reporter {
    public final Plan plan;
    private final Ledger ledger;

    /** A reporter for trajectories in the coordinates `crs`, for example EPSG:4326; null if they have no name. */
    public Reporter(Plan plan, Ledger ledger, String crs) throws PlanRefused {
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

    /** What the newest round asks, in sentences for the person whose device this is. */
    public List<String> explain() {
        return Explanation.ofAsking(plan, plan.rounds.size() - 1);
    }

    /** The bytes to send for the newest round: about one of these trips, drawn at random, or about none. */
    public byte[] report(List<Trajectory> trips) throws IOException, PlanRefused {
        return report(trips, plan.rounds.size() - 1);
    }

    /** The same for a round, counted from 0. */
    public byte[] report(List<Trajectory> trips, int round) throws IOException, PlanRefused {
        if (round < 0 || round >= plan.rounds.size()) {
            throw new PlanRefused(Problem.PLAN_NO_SUCH_ROUND);
        }
        return ledger.answer(plan, round, () -> draw(trips, round));
    }

    /** Tells the ledger that the report of the newest round arrived: it will not be answered again. */
    public void sent() throws IOException {
        sent(plan.rounds.size() - 1);
    }

    /** The same for a round, counted from 0. */
    public void sent(int round) throws IOException {
        ledger.sent(plan, round);
    }

    /** A fresh report, for measurements only: every draw tells more. */
    byte[] draw(List<Trajectory> trips, int round) {
        Trajectory chosen = trips.isEmpty() ? new Trajectory() : trips.get(Source.ofSystem().below(trips.size()));
        return Report.draw(plan, round, Trip.of(chosen, plan.grid), Source.ofSystem());
    }
}
