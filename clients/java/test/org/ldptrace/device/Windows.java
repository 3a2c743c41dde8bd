package org.ldptrace.device;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Standing plans: which trips a window is about, and what a ledger allows under clocks of all kinds. */
final class Windows {
    private Windows() {}

    static void occasion(Map<String, Object> v) throws Exception {
        Standing standing = new Standing(v.get("standing"), BigDecimal.ONE);
        List<Trajectory> trips = new ArrayList<>();
        for (Object arrival : Json.list(v.get("arrivals"))) {
            trips.add(new Trajectory().add(0, 0).arrived(Vectors.number(arrival)));
        }
        List<Trajectory> eligible =
                standing.eligible(trips, (Long) v.get("window"), Vectors.integer(v.get("phase")), (Long) v.get("accepted"));
        int[] places = new int[eligible.size()];
        for (int i = 0; i < places.length; i++) {
            places[i] = trips.indexOf(eligible.get(i));
        }
        Vectors.same(places, Vectors.ints(v.get("eligible")));
        Vectors.same((long) places.length, v.get("trips"));
        Vectors.Replay replay = new Vectors.Replay(v);
        if (places.length > 0) {
            Vectors.same((long) places[new Source(replay).below(places.length)], v.get("chosen"));
        }
        replay.usedUp();
    }

    static void check(Map<String, Object> v) throws Exception {
        Map<String, Plan> plans = new HashMap<>();
        for (Map.Entry<String, Object> entry : Json.object(v.get("plans")).entrySet()) {
            plans.put(entry.getKey(), Plan.read(Vectors.bytes(entry.getValue())));
        }
        Vectors.Memory storage = new Vectors.Memory();
        String limit = (String) v.get("limit");
        List<String> reports = new ArrayList<>();
        for (Object entry : Json.list(v.get("steps"))) {
            Map<String, Object> step = Json.object(entry);
            Plan plan = plans.get(step.get("plan"));
            // Every step is a program of its own: all but the stored text is lost.
            limit = step.get("do").equals("limit") ? (String) step.get("limit") : limit;
            Ledger ledger = new Ledger(storage, limit);
            reports.add(null);
            switch ((String) step.get("do")) {
                case "accept":
                    Vectors.Replay replay = new Vectors.Replay(step);
                    ledger.accept(plan, Vectors.number(step.get("now")), new Source(replay));
                    Vectors.same((long) ledger.book().row(plan).phase, step.get("phase"));
                    Vectors.same(ledger.book().row(plan).last, step.get("window"));
                    break;
                case "sent":
                    sent(plan, ledger, step, reports);
                    break;
                case "report":
                    Vectors.same(result(plan, ledger, Vectors.number(step.get("now")), reports), step.get("result"));
                    break;
                default:
                    break;
            }
            Vectors.same(ledger.spent(), step.get("spent"));
        }
    }

    /** The report of this plan and window has arrived. */
    private static void sent(Plan plan, Ledger ledger, Map<String, Object> step, List<String> reports) throws Exception {
        for (String hex : reports) {
            byte[] report = hex == null ? null : Bytes.ofHex(hex);
            boolean ofPlan = report != null && hex.substring(2, 34).equals(plan.id.substring(0, 32));
            if (ofPlan && (step.get("window") == null || step.get("window").equals(Report.window(report)))) {
                new Reporter(plan, ledger, null).sent(report);
            }
        }
    }

    /** "fresh:" and the window, the number of the step whose bytes come again, or the problem. */
    private static String result(Plan plan, Ledger ledger, double now, List<String> reports) {
        List<Trajectory> trips = Collections.singletonList(new Trajectory().add(0.5, 0.5).arrived(now));
        int last = reports.size() - 1;
        String problem =
                Vectors.refusal(() -> reports.set(last, Bytes.hex(new Reporter(plan, ledger, null).report(trips, 0, now))));
        if (problem != null) {
            return problem;
        }
        int first = reports.indexOf(reports.get(last));
        return first == last ? "fresh:" + Report.window(Bytes.ofHex(reports.get(last))) : String.valueOf(first);
    }
}
