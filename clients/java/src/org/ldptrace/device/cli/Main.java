package org.ldptrace.device.cli;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.ldptrace.device.FileStorage;
import org.ldptrace.device.Ledger;
import org.ldptrace.device.Plan;
import org.ldptrace.device.PlanRefused;
import org.ldptrace.device.ReportRejected;
import org.ldptrace.device.Reporter;

/** The command-line program: what an app does with the client, one step at a time. */
public final class Main {
    private static final String USAGE = "usage: java -jar ldptrace-device.jar COMMAND\n\n"
            + "explain --plan PLAN --ledger FILE [--plan-id ID] [--limit E] [--report REPORT | --trajectory FILE [--now TIME]]\n"
            + "    what the plan asks and what it costs, what the device makes of trips, or what a report says, in words\n"
            + "report --plan PLAN --trajectory FILE -o REPORT --ledger FILE\n"
            + "       [--plan-id ID] [--limit E] [--round N] [--crs NAME] [--now TIME]\n"
            + "    the one report about the trips of GPX or GeoJSON files (--trajectory may come several times)\n"
            + "send --plan PLAN --report REPORT --url URL --ledger FILE [--admission CODE] [--wait SECONDS]\n"
            + "    waits for a random time of at most SECONDS (unless given: the plan's grace, or an hour), sends the report to the campaign at URL,\n"
            + "    and notes in the ledger that it arrived\n"
            + "    (a shuffled plan names its shuffler itself: omit --url)\n"
            + "each of these three: [--local-limit E] [--most-local E] [--shuffled yes|no]\n"
            + "    the limit if a shuffler and a curator work together, that of one answer, whether shuffled plans are answered\n"
            + "lines --ledgers FOLDER\n"
            + "    answers plans and trips that come as JSON lines, for `ldptrace audit --device`\n\n"
            + "A ledger is a file that remembers what you have said. One person has one; never delete or copy it.";


    private Main() {}

    /** Exit status: 0 done, 1 the server did not take the report, 2 misuse or a plan that is refused. */
    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    private static int run(String[] arguments) {
        String command = arguments.length == 0 ? "--help" : arguments[0];
        List<String> rest = Arrays.asList(arguments).subList(Math.min(1, arguments.length), arguments.length);
        try {
            switch (command) {
                case "explain":
                    return explain(new Options(
                            rest, "plan", "plan-id", "ledger", "limit", "local-limit", "most-local", "shuffled", "report", "trajectory", "now"));
                case "report":
                    return report(new Options(
                            rest, "plan", "plan-id", "trajectory", "output", "ledger", "limit", "local-limit", "most-local", "shuffled", "round",
                            "crs", "now"));
                case "send":
                    return send(new Options(
                            rest, "plan", "plan-id", "report", "url", "ledger", "limit", "local-limit", "most-local", "shuffled", "admission",
                            "wait"));
                case "lines":
                    return new Lines(new File(new Options(rest, "ledgers").required("ledgers"))).answer(System.in, System.out);
                case "--help":
                    System.out.println(USAGE);
                    return 0;
                default:
                    return fail("there is no command " + command + "; --help lists them");
            }
        } catch (FileNotFoundException missing) {
            return fail("cannot open " + missing.getMessage());
        } catch (Options.Misuse | PlanRefused | ReportRejected | IOException | IllegalArgumentException wrong) {
            return fail(wrong.getMessage());
        }
    }

    private static int fail(String sentence) {
        System.err.println("error: " + sentence);
        return 2;
    }

    private static int explain(Options options) throws Options.Misuse, PlanRefused, ReportRejected, IOException {
        List<String> names = options.all("trajectory");
        Trips files = new Trips(names);
        Reporter reporter = reporter(options, files.crs);
        String report = options.value("report");
        int newest = reporter.plan.rounds.size() - 1;
        double now = now(options);
        List<String> lines =
                report == null ? reporter.explain(newest, now) : reporter.explain(Trips.bytesOf(new File(report)));
        if (report == null && !names.isEmpty()) {
            lines.addAll(reporter.check(files.trips, newest, now));
        }
        for (String line : lines) {
            System.out.println(line);
        }
        return 0;
    }

    private static int report(Options options) throws Options.Misuse, PlanRefused, IOException {
        File output = new File(options.required("output"));
        options.required("trajectory");
        Trips files = new Trips(options.all("trajectory"));
        String crs = options.value("crs");
        Reporter reporter = reporter(options, crs == null ? files.crs : crs);
        Integer round = options.count("round");
        int number = round == null ? reporter.plan.rounds.size() - 1 : round - 1;
        System.err.println(reporter.headline());
        byte[] report = reporter.report(files.trips, number, now(options));
        FileOutputStream out = new FileOutputStream(output);
        try {
            out.write(report);
        } finally {
            out.close();
        }
        System.err.println(report.length + " bytes written to " + output + "; " + reporter.given());
        return 0;
    }

    private static int send(Options options) throws Options.Misuse, PlanRefused, IOException {
        byte[] report = Trips.bytesOf(new File(options.required("report")));
        Reporter reporter = reporter(options, null);
        if (reporter.plan.shuffled != null) {
            System.err.println("the shuffler is " + reporter.plan.shuffled.operator + ", " + reporter.plan.shuffled.address);
        }
        String given = options.value("wait");
        wait(given == null ? reporter.delay() : reporter.delay(seconds(given)));
        String refusal = Http.post(reporter, options.value("url"), report, options.value("admission"));
        if (refusal != null) {
            System.err.println("error: the report was not taken and is kept to be sent again: " + refusal);
            return 1;
        }
        reporter.sent(report);
        System.err.println("the report arrived; " + reporter.given());
        return 0;
    }

    private static int seconds(String given) throws Options.Misuse {
        if (!given.matches("[0-9]{1,6}")) {
            throw new Options.Misuse("--wait is a number of seconds of at most six digits, got " + given);
        }
        return Integer.parseInt(given);
    }

    /** The moment of sending must not follow from the trip, nor from the end of a window. */
    private static void wait(int seconds) throws IOException {
        System.err.println("the report is sent in " + seconds + " s: the moment must not follow from the trip");
        try {
            Thread.sleep(1000L * seconds);
        } catch (InterruptedException stopped) {
            throw new IOException("stopped before the report was sent; it is kept to be sent again");
        }
    }

    private static Reporter reporter(Options options, String crs) throws Options.Misuse, PlanRefused, IOException {
        byte[] document = Trips.bytesOf(new File(options.required("plan")));
        String id = options.value("plan-id");
        Plan plan = id == null ? Plan.read(document) : Plan.read(document, id);
        FileStorage storage = new FileStorage(new File(options.required("ledger")));
        Ledger ledger = new Ledger(storage, options.value("limit"));
        String local = options.value("local-limit");
        String most = options.value("most-local");
        String shuffled = options.value("shuffled");
        if (local != null) {
            ledger.localLimit(local);
        }
        if (most != null) {
            ledger.mostLocal(most);
        }
        if (shuffled != null) {
            if (!shuffled.equals("yes") && !shuffled.equals("no")) {
                throw new Options.Misuse("--shuffled is yes or no, got " + shuffled);
            }
            ledger.shuffled(shuffled.equals("yes"));
        }
        return new Reporter(plan, ledger, crs);
    }

    /** The clock to try out, a date with its zone or a Unix time, or the device's own. */
    private static double now(Options options) throws Options.Misuse {
        String given = options.value("now");
        if (given == null) {
            return System.currentTimeMillis() / 1000.0;
        }
        double now = Double.NaN;
        if (given.matches("-?[0-9]{1,12}")) {
            now = Double.parseDouble(given);
        } else if (given.matches(".*T.*(Z|[+-][0-9]{2}:?[0-9]{2})")) {
            now = Moments.ofText(given);
        }
        if (now != now) {
            throw new Options.Misuse(
                    "--now is a moment with its zone, such as 2026-11-16T08:00Z, or Unix seconds, got '" + given + "'");
        }
        return now;
    }
}
