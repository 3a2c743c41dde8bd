package org.ldptrace.device;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Ledgers with shuffled plans: two sums and the deltas, step by step. */
final class Sums {
    private Sums() {}

    static void check(Map<String, Object> v) throws Exception {
        Map<String, Plan> plans = new HashMap<>();
        for (Map.Entry<String, Object> entry : Json.object(v.get("plans")).entrySet()) {
            plans.put(entry.getKey(), Plan.read(Vectors.bytes(entry.getValue())));
        }
        Vectors.Memory storage = new Vectors.Memory();
        List<String> reports = new ArrayList<>();
        Ledger ledger = new Ledger(storage);
        for (Object entry : Json.list(v.get("steps"))) {
            Map<String, Object> step = Json.object(entry);
            Plan plan = plans.get(step.get("plan"));
            reports.add(null);
            switch ((String) step.get("do")) {
                case "set":
                    ledger = set(storage, step);
                    break;
                case "sent":
                    for (String report : reports) {
                        if (report != null) {
                            sent(plan, ledger, Bytes.ofHex(report));
                        }
                    }
                    break;
                case "restart":
                    ledger = new Ledger(storage);
                    break;
                default:
                    Vectors.same(done(plan, ledger, step, reports), step.get("result"));
            }
            Vectors.same(ledger.spent(), step.get("spent"));
            Vectors.same(ledger.spentLocally(), step.get("local"));
            Vectors.same(ledger.delta(), step.get("delta"));
            // What is stored is all that a ledger knows, apart from settings that nothing was written under.
            Vectors.same(new Ledger(storage).spent(), step.get("spent"));
        }
    }

    /** The bytes, if they are those of this plan. */
    private static void sent(Plan plan, Ledger ledger, byte[] report) throws Exception {
        try {
            ledger.windowOf(plan, report);
        } catch (java.io.IOException others) {
            return;
        }
        new Reporter(plan, ledger, null).sent(report);
    }

    private static Ledger set(Vectors.Memory storage, Map<String, Object> step) throws Exception {
        Ledger ledger = new Ledger(storage, (String) step.get("limit"));
        if (step.containsKey("local_limit")) {
            ledger.localLimit((String) step.get("local_limit"));
        }
        if (step.containsKey("most_local")) {
            ledger.mostLocal((String) step.get("most_local"));
        }
        if (step.containsKey("shuffled")) {
            ledger.shuffled(step.get("shuffled").equals("yes"));
        }
        // A person who changes a setting stores it.
        ledger.store();
        return ledger;
    }

    /** "fresh:" and the window, the number of the step whose bytes come again, the last window that is over, or the problem. */
    private static String done(Plan plan, Ledger ledger, Map<String, Object> step, List<String> reports) {
        double now = Vectors.number(step.get("now"));
        int last = reports.size() - 1;
        String[] found = new String[1];
        String problem = Vectors.refusal(() -> {
            if (step.get("do").equals("accept")) {
                ledger.accept(plan, now, new Source(new Vectors.Replay(step)));
                found[0] = String.valueOf(ledger.book().row(plan).last);
                return;
            }
            reports.set(last, Bytes.hex(new Reporter(plan, ledger, null).report(Collections.<Trajectory>emptyList(), 0, now)));
            int first = reports.indexOf(reports.get(last));
            Book.Row row = ledger.book().row(plan);
            found[0] = first == last ? "fresh:" + (row == null ? 0 : row.last) : String.valueOf(first);
        });
        return problem == null ? found[0] : problem;
    }
}
