package org.ldptrace.device;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.security.GeneralSecurityException;

/**
 * How the reports of a plan are shuffled, and the promise that holds if shuffler and curator do not work together. Sections 2 and 3
 * of version 2 of the protocol.
 */
public final class Shuffled {
    private static final String CENTRAL = "(0|[1-9][0-9]?)(\\.[0-9]{0,17}[1-9])?";
    private static final BigDecimal LEAST_LOCAL = new BigDecimal("0.01");
    private static final BigDecimal LEAST_CENTRAL = new BigDecimal("0.0001");
    private static final BigDecimal LEAST_DELTA = new BigDecimal("0.000000000000001");
    private static final BigDecimal MOST_DELTA = new BigDecimal("0.000001");
    private static final BigDecimal MOST_LIFETIME = BigDecimal.valueOf(999);
    private static final long LAST_DATE = 253402300799L;
    private static final String WORD = "[!#-;=?-Z^-z|~]";

    /** The curator's public key, for which reports are sealed. */
    final byte[] key;
    /** The shuffler hands over no fewer reports than this at once. */
    public final int batch;
    /** The share of these reports that come from honest devices. */
    public final BigDecimal honest;
    /** The central promise for one answer. */
    public final BigDecimal delta;
    public final BigDecimal epsilon;
    /** The central epsilon of all answers to a standing plan; otherwise null. */
    public final BigDecimal lifetime;
    /** Who runs the shuffler, in words: to show before anything is sent. */
    public final String operator;
    public final String address;

    Shuffled(Object document, BigDecimal local, boolean isStanding) throws PlanRefused {
        Fields fields = Fields.of(document, "shuffled")
                .only("address", "batch", "delta", "epsilon", "honest", "key", "lifetime", "operator", "until");
        key = Bytes.ofHex(fields.text("key", "04[0-9a-f]{128}"));
        batch = fields.integer("batch", 2, 10000000);
        honest = new BigDecimal(fields.text("honest", "0\\.[0-9]{0,3}[1-9]|1"));
        delta = new BigDecimal(fields.text("delta", "0\\.[0-9]{0,17}[1-9]"));
        epsilon = new BigDecimal(fields.text("epsilon", CENTRAL));
        if (delta.compareTo(LEAST_DELTA) < 0 || delta.compareTo(MOST_DELTA) > 0) {
            throw fields.wrong("delta", "from " + LEAST_DELTA.toPlainString() + " to " + MOST_DELTA);
        }
        if (epsilon.compareTo(LEAST_CENTRAL) < 0 || epsilon.compareTo(local) > 0 || local.compareTo(LEAST_LOCAL) < 0) {
            throw fields.wrong("epsilon", "from 0.0001 to the plan's epsilon, which is at least 0.01");
        }
        lifetime = lifetimeOf(fields, isStanding);
        operator = fields.text("operator", WORD + "([ " + WORD.substring(1, WORD.length() - 1) + "]{0,198}" + WORD + ")?");
        address = fields.text("address", "https?://[A-Za-z0-9._~:/%-]{1,200}");
        if (hidden() < 1 || !isPoint(key)) {
            throw PlanRefused.malformed("a shuffled plan needs an honest device, and a key that is a point of the curve");
        }
    }

    private BigDecimal lifetimeOf(Fields fields, boolean isStanding) throws PlanRefused {
        if (!isStanding) {
            fields.whole("until", 0, LAST_DATE);
        }
        if (isStanding ? fields.value("until") != null : fields.value("lifetime") != null) {
            throw fields.wrong("until", "null in a standing plan, and lifetime in any other");
        }
        if (!isStanding) {
            return null;
        }
        BigDecimal found = new BigDecimal(fields.text("lifetime", "(0|[1-9][0-9]{0,2})(\\.[0-9]{0,17}[1-9])?"));
        if (found.compareTo(epsilon) < 0 || found.compareTo(MOST_LIFETIME) > 0) {
            throw fields.wrong("lifetime", "at least the central epsilon and at most " + MOST_LIFETIME);
        }
        return found;
    }

    private static boolean isPoint(byte[] key) {
        try {
            return Seals.isPoint(key);
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("every Java platform has P-256", missing);
        }
    }

    /** Honest devices in every batch. */
    int hidden() {
        return honest.multiply(BigDecimal.valueOf(batch)).setScale(0, RoundingMode.FLOOR).intValue();
    }

    /** Refuses a plan that claims less than its honest devices can hide. */
    void check(BigDecimal local) throws PlanRefused {
        double found = Accountant.divergence(
                hidden(), Double.parseDouble(local.toString()), Double.parseDouble(epsilon.toString()));
        if (found > Double.parseDouble(delta.toString())) {
            throw new PlanRefused(Problem.PLAN_PROMISES_TOO_MUCH);
        }
    }
}
