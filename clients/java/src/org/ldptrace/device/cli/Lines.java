package org.ldptrace.device.cli;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.ldptrace.device.Bytes;
import org.ldptrace.device.FileStorage;
import org.ldptrace.device.Json;
import org.ldptrace.device.Ledger;
import org.ldptrace.device.Plan;
import org.ldptrace.device.PlanRefused;
import org.ldptrace.device.Reporter;
import org.ldptrace.device.Storage;
import org.ldptrace.device.Trajectory;

/**
 * Answers JSON lines, one line each, so that other programs can drive this client: docs/how-to/audit-a-client.md says how.
 *
 * <p>Ledgers with names are files of a folder and outlive this program; without a name every report has a new ledger.
 */
final class Lines {
    private final File ledgers;
    private String document;
    private Plan plan;

    Lines(File ledgers) {
        this.ledgers = ledgers;
    }

    int answer(InputStream in, OutputStream out) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, Trips.UTF8));
        PrintStream answers = new PrintStream(out, false, "UTF-8");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            answers.println(answer(line));
            answers.flush();
        }
        return 0;
    }

    private String answer(String line) {
        Map<String, Object> answer = new LinkedHashMap<>();
        try {
            Object parsed = Json.parse(line);
            Map<?, ?> asked = parsed instanceof Map ? (Map<?, ?>) parsed : new LinkedHashMap<>();
            answer(asked, answer);
        } catch (PlanRefused refused) {
            answer.put("problem", refused.problem.code);
        } catch (Json.Malformed | IOException | RuntimeException wrong) {
            answer.put("error", String.valueOf(wrong.getMessage()));
        }
        try {
            return Json.write(answer);
        } catch (Json.Malformed never) {
            throw new IllegalStateException(never);
        }
    }

    private void answer(Map<?, ?> asked, Map<String, Object> answer) throws PlanRefused, IOException {
        if (asked.containsKey("plan") && !String.valueOf(asked.get("plan")).equals(document)) {
            document = String.valueOf(asked.get("plan"));
            plan = null;
        }
        plan = plan == null ? Plan.read(String.valueOf(document).getBytes(Trips.UTF8)) : plan;
        if (asked.get("accept") != null) {
            reporter(asked).accept(now(asked));
        } else if (asked.get("sent") != null) {
            reporter(asked).sent(Bytes.ofHex(asked.get("sent").toString()));
        } else if (asked.get("check") != null) {
            answer.put("check", new ArrayList<Object>(reporter(asked).check(trips(asked.get("trips")), round(asked), now(asked))));
        } else if (asked.get("count") == null) {
            answer.put("report", report(asked, trips(asked.get("trips"))));
        } else {
            List<Trajectory> trips = trips(asked.get("trips"));
            List<Object> reports = new ArrayList<>();
            for (long left = (Long) asked.get("count"); left > 0; left--) {
                reports.add(report(asked, trips));
            }
            answer.put("reports", reports);
        }
    }

    private String report(Map<?, ?> asked, List<Trajectory> trips) throws PlanRefused, IOException {
        Reporter reporter = reporter(asked);
        if (asked.get("accepted") != null) {
            reporter.accept(number(asked.get("accepted")));
        }
        return Bytes.hex(reporter.report(trips, round(asked), now(asked)));
    }

    private int round(Map<?, ?> asked) {
        Object round = asked.get("round");
        return round == null ? plan.rounds.size() - 1 : (int) (long) (Long) round;
    }

    private Reporter reporter(Map<?, ?> asked) throws PlanRefused, IOException {
        Object name = asked.get("ledger");
        if (name != null && !name.toString().matches("[a-z0-9-]{1,64}")) {
            throw new IOException("a ledger is named with small letters, digits and hyphens, got " + name);
        }
        Storage storage = name == null ? new Memory() : new FileStorage(new File(ledgers, name + ".json"));
        return new Reporter(plan, new Ledger(storage, (String) asked.get("limit")), null);
    }

    private static double now(Map<?, ?> asked) {
        return asked.get("now") == null ? System.currentTimeMillis() / 1000.0 : number(asked.get("now"));
    }

    private static List<Trajectory> trips(Object value) {
        List<Trajectory> trips = new ArrayList<>();
        for (Object entry : (List<?>) value) {
            Map<?, ?> described = (Map<?, ?>) entry;
            Trajectory trip = new Trajectory();
            for (Object point : (List<?>) described.get("points")) {
                List<?> values = (List<?>) point;
                trip.add(number(values, 0), number(values, 1), number(values, 2));
            }
            trips.add(trip.arrived(number(described.get("arrival"))));
        }
        return trips;
    }

    private static double number(List<?> values, int place) {
        return place < values.size() ? number(values.get(place)) : Double.NaN;
    }

    /** A number, or in a string "NaN", "Infinity" or "-Infinity"; everything else is no number. */
    private static double number(Object value) {
        if (value instanceof Number) {
            return ((Number) value).doubleValue();
        }
        boolean infinite = "Infinity".equals(value) || "-Infinity".equals(value);
        return infinite ? Double.parseDouble((String) value) : Double.NaN;
    }

    /** A ledger that is forgotten with its report. */
    private static final class Memory implements Storage {
        private String text;

        @Override
        public void change(Change change) throws IOException, PlanRefused {
            String changed = change.of(text);
            text = changed == null ? text : changed;
        }
    }
}
