package org.ldptrace.device;

import java.util.ArrayList;
import java.util.List;

/** What is about to leave the device, in sentences for the person whose device it is. */
final class Explanation {
    private Explanation() {}

    /** What a round asks, before anything is drawn. */
    static List<String> ofAsking(Plan plan, int number, Book book) {
        Round round = plan.rounds.get(number);
        double[] bounds = plan.grid.bounds();
        int n = plan.grid.n;
        List<String> lines = new ArrayList<>();
        lines.add("Plan " + plan.id.substring(0, 12) + ", round " + (number + 1) + " of " + plan.rounds.size()
                + ": one message of " + Report.size(round)
                + " bytes would leave this device, whatever your trajectory looks like.");
        lines.add("Your points are first reduced to " + n + " x " + n + " cells between (" + short6(bounds[0]) + ", "
                + short6(bounds[1]) + ") and (" + short6(bounds[2]) + ", " + short6(bounds[3])
                + "); points outside count for the nearest cell. Points, times and names are not sent.");
        if (round.isPartition) {
            lines.add("One question is drawn by lot, without looking at your trajectory; only it is answered:");
        } else {
            lines.add("These questions are answered:");
        }
        for (Round.Ask ask : round.asks) {
            String share = round.isPartition ? Decimals.fixed(100.0 * ask.share / Round.SHARES, 1) + " %: " : "";
            lines.add("  " + share + asked(ask));
        }
        double ratio = Math.exp(Exact.about(round.spent()));
        lines.add("Whatever the message says, it is at most " + Decimals.general(ratio, 3)
                + " times as likely from you as from anybody else who takes part. Somebody who was 50 % sure of anything"
                + " about your trajectory can be at most " + Decimals.fixed(100 * (ratio / (1 + ratio)), 1)
                + " % sure after reading it.");
        lines.add("All messages of this plan together keep to epsilon " + Decimals.plain(plan.epsilon)
                + ". Not hidden: that you took part, when, and from which network address.");
        lines.add("The plan's id is " + plan.id + ". Given so far, in all plans: epsilon " + Decimals.plain(book.spent())
                + " of your limit " + Decimals.plain(book.limit) + ".");
        return lines;
    }

    /** What the bytes of a report say. */
    static List<String> ofReport(Plan plan, byte[] report) throws ReportRejected {
        int number = Math.min(Report.round(report), plan.rounds.size() - 1);
        List<String> lines = new ArrayList<>();
        lines.add("The message, " + report.length + " bytes: " + Bytes.hex(report));
        lines.add("Its first " + Report.HEADER_BYTES + " bytes are the version, the plan, the round " + (number + 1)
                + ", the drawn question and a random number; they say nothing about you.");
        for (Report.Answer answer : Report.read(report, plan, number, null)) {
            lines.add("To the question about " + answer.ask.question.about + " it says:");
            for (int slot = 0; slot < answer.slots.size(); slot++) {
                String place = answer.slots.size() > 1 ? slot + 1 + ": " : "";
                lines.add("  " + place + words(answer.ask.question, answer.slots.get(slot)));
            }
        }
        lines.add("Each of these may be true or made up by the lot; nobody who reads the message can tell which.");
        return lines;
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

    private static String short6(double value) {
        return Decimals.general(value, 6);
    }
}
