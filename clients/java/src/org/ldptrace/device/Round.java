package org.ldptrace.device;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Questions that are asked at the same time: of everyone, or of parts of the devices that are drawn at random. */
public final class Round {
    static final int SHARES = 65536;
    private static final int MOST_PAYLOAD = 262144;

    /** One question with its randomizer; `share` of 65,536 devices answer it. */
    public static final class Ask {
        public final Question question;
        public final Randomizer randomizer;
        public final int share;

        Ask(Question question, Randomizer randomizer, int share) {
            this.question = question;
            this.randomizer = randomizer;
            this.share = share;
        }

        int payloadBytes() {
            return question.slots * randomizer.payloadBytes;
        }

        long work() {
            return (long) question.slots * randomizer.outputs;
        }

        BigInteger spent() {
            BigInteger once = Exact.logarithm(randomizer.numerator, randomizer.denominator);
            return once.multiply(BigInteger.valueOf(question.slots));
        }
    }

    public final List<Ask> asks;
    /** Whether each device draws one question; otherwise each answers all. */
    public final boolean isPartition;
    /** Whether all answers have one size. Plans for which this is not so are refused. */
    public final boolean isPadded;
    /** Bytes of every payload. */
    public final int payloadBytes;

    private Round(List<Ask> asks, boolean isPartition, boolean isPadded) throws PlanRefused {
        this.asks = Collections.unmodifiableList(asks);
        this.isPartition = isPartition;
        this.isPadded = isPadded;
        long payload = 0;
        for (Ask ask : asks) {
            long size = (long) ask.question.slots * ask.randomizer.payloadBytes;
            payload = isPartition ? Math.max(payload, size) : payload + size;
        }
        if (payload > MOST_PAYLOAD) {
            throw new PlanRefused(Problem.PLAN_TOO_LARGE, "a round asks for " + payload + " bytes");
        }
        payloadBytes = (int) payload;
    }

    static Round of(int n, Object document) throws PlanRefused {
        Fields fields = Fields.of(document, "a round").only("asks", "assignment", "padded");
        boolean partition = fields.text("assignment", "everyone|partition").equals("partition");
        boolean padded = fields.truth("padded");
        List<Ask> asks = new ArrayList<>();
        Set<String> names = new HashSet<>();
        int shares = 0;
        for (Object entry : fields.list("asks", 1, 255)) {
            Fields ask = Fields.of(entry, "an ask").only("question", "randomizer", "share");
            Question question = Question.of(n, ask.value("question"));
            Randomizer randomizer = Randomizer.of(ask.value("randomizer"), question);
            int share = ask.integer("share", partition ? 1 : SHARES, SHARES);
            asks.add(new Ask(question, randomizer, share));
            shares += share;
            if (!names.add(question.name)) {
                throw PlanRefused.malformed("the question " + question.name + " is asked twice");
            }
        }
        if (partition && shares != SHARES) {
            throw PlanRefused.malformed("shares must add up to " + SHARES + ", got " + shares);
        }
        return new Round(asks, partition, padded);
    }

    /** What this round spends at most, in units of {@link Exact}. */
    BigInteger spent() {
        BigInteger spent = BigInteger.ZERO;
        for (Ask ask : asks) {
            spent = isPartition ? spent.max(ask.spent()) : spent.add(ask.spent());
        }
        return spent;
    }

    /** The asks that a member of this group answers. */
    List<Ask> asked(int group) {
        return isPartition ? asks.subList(group, group + 1) : asks;
    }
}
