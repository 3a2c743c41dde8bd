package org.ldptrace.device;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Scenarios of ledgers, step by step. */
final class Ledgers {
    private Ledgers() {}

    static void check(Map<String, Object> v) throws Exception {
        Map<String, Plan> plans = new HashMap<>();
        for (Map.Entry<String, Object> entry : Json.object(v.get("plans")).entrySet()) {
            plans.put(entry.getKey(), Plan.read(Vectors.bytes(entry.getValue())));
        }
        Vectors.Memory storage = new Vectors.Memory();
        Ledger ledger = new Ledger(storage, (String) v.get("limit"));
        List<Object> reports = new ArrayList<>();
        for (Object entry : Json.list(v.get("steps"))) {
            Map<String, Object> step = Json.object(entry);
            Plan plan = plans.get(step.get("plan"));
            reports.add(null);
            if (step.get("do").equals("restart")) {
                ledger = new Ledger(storage, (String) v.get("limit"));
            } else if (step.get("do").equals("sent")) {
                sent(plan, ledger, step, reports, Json.list(v.get("steps")));
            } else {
                Vectors.same(result(plan, ledger, Vectors.integer(step.get("round")), reports), step.get("result"));
            }
            Vectors.same(ledger.spent(), step.get("spent"));
        }
    }

    /** The last report that this plan got for this round has arrived. */
    private static void sent(Plan plan, Ledger ledger, Map<String, Object> step, List<Object> reports, List<Object> steps)
            throws Exception {
        for (int i = reports.size() - 2; i >= 0; i--) {
            Map<String, Object> earlier = Json.object(steps.get(i));
            boolean same = step.get("plan").equals(earlier.get("plan")) && step.get("round").equals(earlier.get("round"));
            if (same && reports.get(i) != null) {
                new Reporter(plan, ledger, null).sent(Bytes.ofHex((String) reports.get(i)));
                return;
            }
        }
    }

    /** "fresh", the number of the step whose bytes come again, or the problem. */
    private static Object result(Plan plan, Ledger ledger, int round, List<Object> reports) {
        List<Trajectory> trips = Collections.singletonList(new Trajectory().add(0.5, 0.5));
        int last = reports.size() - 1;
        String problem = Vectors.refusal(
                () -> reports.set(last, Bytes.hex(new Reporter(plan, ledger, null).report(trips, round, 0))));
        if (problem != null) {
            return problem;
        }
        int first = reports.indexOf(reports.get(last));
        return first == last ? (Object) "fresh" : (Object) (long) first;
    }
}
