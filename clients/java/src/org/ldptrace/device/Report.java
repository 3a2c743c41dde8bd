package org.ldptrace.device;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The bytes of a report: one size for everybody who answers the same round of the same plan. Section 8 of the protocol. */
public final class Report {
    static final int HEADER_BYTES = 39;
    static final int ID_BYTES = 16;
    private static final int PLAN_BYTES = 16;
    private static final int ROUND_AT = 1 + PLAN_BYTES;
    private static final int GROUP_AT = ROUND_AT + 1;
    private static final int WINDOW_AT = GROUP_AT + 1;
    private static final int WINDOW_BYTES = 4;
    private static final int ID_AT = WINDOW_AT + WINDOW_BYTES;

    private Report() {}

    /** What one question's slots name. */
    static final class Answer {
        final Round.Ask ask;
        final List<int[]> slots = new ArrayList<>();

        Answer(Round.Ask ask) {
            this.ask = ask;
        }
    }

    /** Size of every report of this round. */
    static int size(Round round) {
        return HEADER_BYTES + round.payloadBytes;
    }

    /** A fresh report about this occasion. In a plan that is not standing the window is 0. */
    static byte[] draw(Plan plan, int number, long window, Occasion occasion, Source source) {
        Round round = plan.rounds.get(number);
        byte[] report = new byte[size(round)];
        report[0] = (byte) plan.version();
        System.arraycopy(Bytes.ofHex(plan.id), 0, report, 1, PLAN_BYTES);
        report[ROUND_AT] = (byte) number;
        for (int i = 0; i < WINDOW_BYTES; i++) {
            report[WINDOW_AT + i] = (byte) (window >> 8 * (WINDOW_BYTES - 1 - i));
        }
        System.arraycopy(source.take(ID_BYTES), 0, report, ID_AT, ID_BYTES);
        int group = group(round, source);
        report[GROUP_AT] = (byte) group;
        int position = HEADER_BYTES;
        for (Round.Ask ask : round.asked(group)) {
            for (int[] items : ask.question.answers(occasion, source)) {
                byte[] bytes = ask.randomizer.encode(ask.randomizer.perturb(items, source));
                System.arraycopy(bytes, 0, report, position, bytes.length);
                position += bytes.length;
            }
        }
        return report;
    }

    /** The number of the ask to answer, drawn by the shares without looking at the trajectory. */
    private static int group(Round round, Source source) {
        if (!round.isPartition) {
            return 0;
        }
        int drawn = source.below(Round.SHARES);
        int group = 0;
        while (drawn >= round.asks.get(group).share) {
            drawn -= round.asks.get(group++).share;
        }
        return group;
    }

    /**
     * What a report names, ask by ask and slot by slot; rejected with the first problem of section 10. Of a standing plan only
     * this window is read; null for any.
     */
    static List<Answer> read(byte[] report, Plan plan, int number, Long window) throws ReportRejected {
        Round round = plan.rounds.get(number);
        check(report.length == 0 || report[0] == plan.version(), Problem.UNKNOWN_VERSION);
        check(report.length >= HEADER_BYTES, Problem.WRONG_SIZE);
        byte[] id = Arrays.copyOf(Bytes.ofHex(plan.id), PLAN_BYTES);
        check(Arrays.equals(Arrays.copyOfRange(report, 1, ROUND_AT), id), Problem.WRONG_PLAN);
        check((report[ROUND_AT] & 0xff) == number, Problem.WRONG_ROUND);
        Long only = plan.standing == null ? Long.valueOf(0) : window;
        check(only == null || only == window(report), Problem.WRONG_WINDOW);
        check(report.length == size(round), Problem.WRONG_SIZE);
        int group = report[GROUP_AT] & 0xff;
        check(group < (round.isPartition ? round.asks.size() : 1), Problem.UNKNOWN_GROUP);
        int used = HEADER_BYTES;
        for (Round.Ask ask : round.asked(group)) {
            used += ask.payloadBytes();
        }
        for (int i = used; i < report.length; i++) {
            check(report[i] == 0, Problem.BAD_PADDING);
        }
        List<Answer> answers = new ArrayList<>();
        int position = HEADER_BYTES;
        for (Round.Ask ask : round.asked(group)) {
            Answer answer = new Answer(ask);
            for (int slot = 0; slot < ask.question.slots; slot++) {
                int end = position + ask.randomizer.payloadBytes;
                int[] named = ask.randomizer.decode(Arrays.copyOfRange(report, position, end));
                check(named != null, Problem.BAD_PAYLOAD);
                answer.slots.add(named);
                position = end;
            }
            answers.add(answer);
        }
        return answers;
    }

    /** The round that a report answers. */
    static int round(byte[] report) {
        return report.length < HEADER_BYTES ? 0 : report[ROUND_AT] & 0xff;
    }

    /** The window that a report answers. */
    static long window(byte[] report) {
        long window = 0;
        for (int i = 0; i < WINDOW_BYTES; i++) {
            window = window << 8 | report[WINDOW_AT + i] & 0xff;
        }
        return window;
    }

    /** The random id of a report. */
    static byte[] id(byte[] report) {
        return Arrays.copyOfRange(report, ID_AT, ID_AT + ID_BYTES);
    }

    private static void check(boolean right, Problem problem) throws ReportRejected {
        if (!right) {
            throw new ReportRejected(problem);
        }
    }
}
