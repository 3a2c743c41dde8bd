package org.ldptrace.device;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A curator's counts, from the client's reading of reports: no part of the client, only of its tests. */
final class Tally {
    private final Plan plan;
    private final int number;
    /** The only window that counts; null for all. */
    private final Long window;
    private final long[][] counts;
    private final long[] users;
    private final Set<String> seen = new HashSet<>();

    Tally(Plan plan, int number, Long window) {
        this.window = window;
        this.plan = plan;
        this.number = number;
        List<Round.Ask> asks = plan.rounds.get(number).asks;
        counts = new long[asks.size()][];
        users = new long[asks.size()];
        for (int place = 0; place < counts.length; place++) {
            counts[place] = new long[asks.get(place).randomizer.outputs];
        }
    }

    /** The number of each report's problem; 0 where it was counted. */
    List<Object> add(byte[] batch) {
        int size = Report.size(plan.rounds.get(number));
        List<Object> problems = new ArrayList<>();
        for (int start = 0; start < batch.length; start += size) {
            byte[] report = Arrays.copyOfRange(batch, start, Math.min(start + size, batch.length));
            if (report.length < size) {
                problems.add((long) (report[0] == plan.version() ? Problem.WRONG_SIZE : Problem.UNKNOWN_VERSION).number);
                continue;
            }
            try {
                List<Report.Answer> answers = Report.read(report, plan, number, window);
                problems.add((long) (seen.add(Bytes.hex(Report.id(report))) ? count(answers) : Problem.DUPLICATE.number));
            } catch (ReportRejected rejected) {
                problems.add((long) rejected.problem.number);
            }
        }
        return problems;
    }

    private int count(List<Report.Answer> answers) {
        for (Report.Answer answer : answers) {
            int place = plan.rounds.get(number).asks.indexOf(answer.ask);
            users[place]++;
            for (int[] named : answer.slots) {
                for (int item : named) {
                    counts[place][item]++;
                }
            }
        }
        return 0;
    }

    String document() throws Json.Malformed {
        List<Object> asks = new ArrayList<>();
        for (int place = 0; place < counts.length; place++) {
            List<Object> listed = new ArrayList<>();
            for (long value : counts[place]) {
                listed.add(value);
            }
            Map<String, Object> ask = new LinkedHashMap<>();
            ask.put("counts", listed);
            ask.put("users", users[place]);
            ask.put("reports", users[place] * plan.rounds.get(number).asks.get(place).question.slots);
            asks.add(ask);
        }
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("format", "ldptrace-tally");
        document.put("version", 1L);
        document.put("plan", plan.id);
        document.put("round", (long) number);
        document.put("window", window);
        document.put("asks", asks);
        return Json.write(document);
    }
}
