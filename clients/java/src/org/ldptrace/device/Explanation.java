package org.ldptrace.device;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;

/** What is about to leave the device, in sentences for the person whose device it is. */
final class Explanation {
    private static final int[] UNITS = {86400, 3600, 60, 1};
    private static final String[] UNIT_WORDS = {"day", "hour", "minute", "second"};
    /** The last second of the year 9999. */
    private static final long LAST_DATE = 253402300799L;

    private Explanation() {}

    /** What a round asks, before anything is drawn. */
    static List<String> ofAsking(Plan plan, int number) {
        Round round = plan.rounds.get(number);
        double[] bounds = plan.grid.bounds();
        int n = plan.grid.n;
        List<String> lines = new ArrayList<>();
        lines.add("Plan " + plan.id + (plan.campaign == null ? "" : " of the campaign " + plan.campaign)
                + ". Everybody who is asked must see this id: compare it with the one that is published. A plan made for you"
                + " alone would be a name for you.");
        if (plan.standing != null) {
            addWindows(plan, lines);
        }
        lines.add((plan.standing != null ? "One" : "Round " + (number + 1) + " of " + plan.rounds.size() + ": one")
                + " message of " + (Report.size(round) + (plan.shuffled == null ? 0 : Seals.SEAL_BYTES))
                + " bytes would leave this device, of the same size for all trips.");
        addShuffled(plan, lines);
        lines.add("Your points are first reduced to " + n + " x " + n + " cells between (" + digits6(bounds[0]) + ", "
                + digits6(bounds[1]) + ") and (" + digits6(bounds[2]) + ", " + digits6(bounds[3])
                + "); points outside count for the nearest cell. " + notSent(round));
        lines.add(round.isPartition
                ? "One question is drawn at random, without looking at your trajectory; only it is answered:"
                : "These questions are answered:");
        for (Round.Ask ask : round.asks) {
            String share = round.isPartition ? Decimals.fixed(100.0 * ask.share / Round.SHARES, 1) + " %: " : "";
            lines.add("  " + share + asked(ask));
        }
        addPromise(plan, round, lines);
        return lines;
    }

    /** Who shuffles, and what holds if shuffler and curator work together or not. */
    private static void addShuffled(Plan plan, List<String> lines) {
        Shuffled shuffled = plan.shuffled;
        if (shuffled == null) {
            return;
        }
        lines.add("Reports are sealed for the curator and go through a shuffler: " + shuffled.operator + ", " + shuffled.address
                + ". It hands over at least " + String.format(Locale.ROOT, "%,d", shuffled.batch)
                + " reports at once, in random order and without senders, and cannot read them.");
        lines.add("If shuffler and curator do not work together, one answer costs at most epsilon " + Decimals.plain(shuffled.epsilon)
                + " with delta " + digits6(shuffled.delta.doubleValue()) + ", as long as "
                + digits6(100 * shuffled.honest.doubleValue()) + " % of these reports come from honest devices.");
        lines.add("If they do, or if somebody fills a batch with forged reports, one answer still costs at most epsilon "
                + Decimals.plain(plan.epsilon) + ".");
        if (plan.standing != null) {
            BigDecimal most = plan.standing.lifetime.divide(plan.epsilon, 0, RoundingMode.FLOOR);
            lines.add("All " + most.toPlainString() + " answers of a device together: epsilon " + Decimals.plain(shuffled.lifetime)
                    + " with delta " + digits6(most.multiply(shuffled.delta).doubleValue())
                    + "; if shuffler and curator work together, epsilon " + Decimals.plain(most.multiply(plan.epsilon)) + ".");
        }
    }

    /** What this many answers cost, in both cases if the plan is shuffled. */
    private static String costs(Plan plan, int answers) {
        BigDecimal count = BigDecimal.valueOf(answers);
        String local = Decimals.plain(plan.epsilon.multiply(count));
        return plan.shuffled == null
                ? "epsilon " + local
                : "epsilon " + Decimals.plain(plan.shuffled.epsilon.multiply(count)) + " with delta "
                        + digits6(plan.shuffled.delta.multiply(count).doubleValue()) + " (if shuffler and curator work together, "
                        + local + ")";
    }

    /** How sure, in per cent, somebody can be afterwards who was 50 % sure before. */
    private static String sure(BigDecimal epsilon) {
        return Decimals.fixed(100 / (1 + Math.exp(-epsilon.doubleValue())), 1);
    }

    /** When a standing plan asks, and what holds for one trip, a stretch of time, a lifetime, and habits. */
    private static void addWindows(Plan plan, List<String> lines) {
        Standing standing = plan.standing;
        lines.add("It asks again every " + duration(standing.every) + ", at a moment that this device draws once: about one of"
                + " your trips that arrived in the last " + duration(standing.recent) + ", or about none.");
        lines.add("Each trip enters at most one answer: " + costs(plan, 1) + ".");
        int meeting = (standing.every + standing.recent + standing.every - 1) / standing.every;
        lines.add("Any " + duration(standing.every) + " enter at most " + meeting + " answers: " + costs(plan, meeting)
                + ".");
        if (standing.recent < standing.every) {
            lines.add("Any " + duration(standing.every - standing.recent) + " enter at most one answer: " + costs(plan, 1) + ".");
        }
        BigDecimal most = standing.lifetime.divide(plan.epsilon, 0, RoundingMode.FLOOR);
        BigDecimal whole = plan.shuffled == null ? standing.lifetime : plan.shuffled.lifetime;
        String apart = plan.shuffled == null ? "" : " if shuffler and curator do not work together";
        lines.add("All answers of a device together, at most " + most.toPlainString() + ", cost at most the lifetime of epsilon "
                + Decimals.plain(whole) + apart + ", and never more than the person's own limit.");
        lines.add("A habit, such as the route to work, shows in many answers, so only the lifetime bounds what they reveal of"
                + " it: somebody who was 50 % sure of it can be at most " + sure(whole) + " % sure after all of them" + apart + ".");
    }

    /** The guarantee in odds, which need no knowledge of logarithms. */
    private static void addPromise(Plan plan, Round round, List<String> lines) {
        double ratio = Math.exp(Exact.about(round.spent()));
        if (plan.shuffled != null) {
            lines.add("Somebody who was 50 % sure of anything about your trajectory can be at most " + sure(plan.shuffled.epsilon)
                    + " % sure after reading everything that the curator gets, if shuffler and curator do not work together (apart from"
                    + " a chance of " + digits6(plan.shuffled.delta.doubleValue()) + ").");
        }
        lines.add("Any message is at most " + Decimals.general(ratio, 3)
                + " times as likely from you as from anybody else who takes part. Somebody who was 50 % sure of anything"
                + " about your trajectory can be at most " + Decimals.fixed(100 * (ratio / (1 + ratio)), 1)
                + " % sure " + (plan.shuffled == null ? "after reading it." : "if shuffler and curator work together."));
        if (plan.standing == null && plan.shuffled == null) {
            lines.add("All messages of this plan together cost at most epsilon " + Decimals.plain(plan.epsilon) + ".");
        }
        lines.add("Not hidden: that you took part, when, and from which network address.");
    }

    /** What was given, what is left, and when the next answer to this plan is due. */
    static List<String> ofLedger(Book book, Plan plan, double now) {
        List<String> lines = new ArrayList<>();
        BigDecimal left = book.limit.subtract(book.spent()).max(BigDecimal.ZERO);
        String each = each(plan);
        lines.add("Given so far: epsilon " + Decimals.plain(book.spent()) + ". Your limit is " + Decimals.plain(book.limit)
                + ", so " + Decimals.plain(left) + " is left.");
        addLocal(book, plan, lines);
        Book.Row row = plan.standing == null ? null : book.row(plan);
        if (plan.standing == null) {
            lines.add(book.knows(plan.root())
                    ? "You have answered this plan: its epsilon " + each + " is counted already."
                    : "This plan costs epsilon " + each + ", once.");
        } else if (row == null) {
            lines.add("You have not accepted this plan. It costs epsilon " + each + " every " + duration(plan.standing.every) + ".");
            addAgreed(book, plan, lines);
        } else {
            lines.add("To this plan: " + row.answers + " answer" + (row.answers == 1 ? "" : "s") + ", epsilon "
                    + Decimals.plain(row.spent(row.answers)) + " of its lifetime " + Decimals.plain(plan.standing.lifetime) + ".");
            lines.add(due(plan, row, left, now));
        }
        return lines;
    }

    /** What one answer costs; of a shuffled plan, in both cases. */
    private static String each(Plan plan) {
        String local = Decimals.plain(plan.epsilon);
        return plan.shuffled == null
                ? local
                : Decimals.plain(plan.shuffled.epsilon) + " with delta " + digits6(plan.shuffled.delta.doubleValue())
                        + " (if the shuffler and the curator work together, " + local + ")";
    }

    /** The second sum, if there are shuffled plans. */
    private static void addLocal(Book book, Plan plan, List<String> lines) {
        Costs costs = book.costs();
        if (plan.shuffled == null && costs.local.compareTo(costs.central) == 0) {
            return;
        }
        lines.add("If a shuffler and a curator work together: epsilon " + Decimals.plain(costs.local)
                + ". Your limit for that case is " + Decimals.plain(book.localLimit()) + ", so "
                + Decimals.plain(book.localLimit().subtract(costs.local).max(BigDecimal.ZERO)) + " is left.");
        if (plan.shuffled != null && !book.shuffled) {
            lines.add("You take part in no shuffled plan, so this one is not answered.");
        } else if (plan.shuffled != null && plan.epsilon.compareTo(book.mostLocal) > 0) {
            lines.add("This plan costs epsilon " + Decimals.plain(plan.epsilon) + " in that case; you allow "
                    + Decimals.plain(book.mostLocal) + " for one answer, so it is not answered.");
        }
    }

    /** What a person agrees to who accepts a standing shuffled plan. */
    private static void addAgreed(Book book, Plan plan, List<String> lines) {
        BigDecimal total = Costs.ofAcceptance(plan).local;
        if (total.signum() == 0) {
            return;
        }
        lines.add("If the shuffler and the curator work together, all its answers could cost epsilon " + Decimals.plain(total)
                + ": this total counts from the moment you accept the plan.");
        BigDecimal needed = book.costs().local.add(total);
        if (needed.compareTo(book.localLimit()) > 0) {
            lines.add("It is more than what is left of your limit for that case. To agree, raise that limit to "
                    + Decimals.plain(needed) + ".");
        }
    }

    /** What a person sees before the device answers: the plan's id, and what is spent and left. */
    static String ofPlan(Book book, Plan plan) {
        return "plan " + plan.id + "; given so far: epsilon " + Decimals.plain(book.spent()) + ", "
                + Decimals.plain(book.limit.subtract(book.spent()).max(BigDecimal.ZERO)) + " is left";
    }

    private static String due(Plan plan, Book.Row row, BigDecimal left, double now) {
        if (row.spent(row.answers + 1).compareTo(plan.standing.lifetime) > 0) {
            return "Its lifetime is spent: nothing more is asked of you.";
        }
        BigDecimal central = Costs.ofAnswer(plan).central;
        if (central.compareTo(left) > 0) {
            return "What is left of your limit is less than epsilon " + Decimals.plain(central) + ": nothing more is answered.";
        }
        long window = plan.standing.latest(plan.standing.seconds(now), row.phase);
        if (Standing.isWindow(window) && window > row.last) {
            return "An answer is due now.";
        }
        return "The next answer is due at " + moment(plan.standing.end(row.last + 1, row.phase)) + ".";
    }

    /** What the bytes of a report say. */
    static List<String> ofReport(Plan plan, byte[] report) throws ReportRejected {
        if (plan.shuffled != null) {
            List<String> sealed = new ArrayList<>();
            sealed.add("The message, " + report.length + " bytes: " + Bytes.hex(report));
            sealed.add("It is sealed: only the curator can read the report of " + Report.size(plan.rounds.get(0))
                    + " bytes in it, and the shuffler removes your name from it.");
            return sealed;
        }
        int number = Math.min(Report.round(report), plan.rounds.size() - 1);
        List<Report.Answer> answers = Report.read(report, plan, number, null);
        List<String> lines = new ArrayList<>();
        lines.add("The message, " + report.length + " bytes: " + Bytes.hex(report));
        lines.add("Its first " + Report.HEADER_BYTES + " bytes are the version, the plan, the round " + (number + 1) + ", "
                + (plan.standing == null ? "" : "the window " + Report.window(report) + ", ")
                + "the drawn question and a random number; they say nothing about your trips.");
        for (Report.Answer answer : answers) {
            lines.add("To the question about " + answer.ask.question.about + " it says:");
            for (int slot = 0; slot < answer.slots.size(); slot++) {
                String place = answer.slots.size() > 1 ? slot + 1 + ": " : "";
                lines.add("  " + place + words(answer.ask.question, answer.slots.get(slot)));
            }
        }
        lines.add("Each of these may be true or random; nobody who reads the message can tell which.");
        return lines;
    }

    private static String notSent(Round round) {
        for (Round.Ask ask : round.asks) {
            if (ask.question.isAboutTime()) {
                return "Points, names and exact times are not sent; hours and speeds are asked below.";
            }
        }
        return "Points, times and names are not sent.";
    }

    private static String asked(Round.Ask ask) {
        double[] chances = ask.randomizer.probabilities();
        return ask.question.about + " (" + ask.question.domain + " possible items; a true one is named with probability "
                + Decimals.fixed(chances[0], 3) + ", an untrue one with " + Decimals.fixed(chances[1], 3) + ")";
    }

    private static String words(Question question, int[] named) {
        StringBuilder text = new StringBuilder();
        for (int item : named) {
            text.append(text.length() == 0 ? "" : "; ").append(item < question.domain ? question.words(item) : "nothing");
        }
        return text.length() == 0 ? "(no item)" : text.toString();
    }

    /** A duration in the largest unit that divides it. */
    private static String duration(int seconds) {
        int unit = 0;
        while (seconds % UNITS[unit] != 0) {
            unit++;
        }
        int number = seconds / UNITS[unit];
        return number + " " + UNIT_WORDS[unit] + (number == 1 ? "" : "s");
    }

    /** A Unix time for people. */
    static String moment(long unix) {
        if (unix > LAST_DATE) {
            return "Unix time " + unix;
        }
        SimpleDateFormat format = new SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss'Z'", Locale.ROOT);
        format.setTimeZone(TimeZone.getTimeZone("UTC"));
        return format.format(new Date(1000 * unix));
    }

    private static String digits6(double value) {
        return Decimals.general(value, 6);
    }
}
