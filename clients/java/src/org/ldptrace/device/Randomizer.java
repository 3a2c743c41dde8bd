package org.ldptrace.device;

import java.math.BigInteger;
import java.util.Arrays;

/** An exact randomiser of a set of items, with integer weights. Section 7 of the protocol. */
public abstract class Randomizer {
    private static final int MOST_CAPACITY = 256;
    private static final int MOST_DOMAIN = 1 << 20;
    private static final int MOST_SIZE = 4096;
    private static final int RATIO_BITS = 40;

    /** Number of items. */
    public final int domain;
    /** Number of outputs: the items, and what stands for none. */
    public final int outputs;
    /** Bytes of every answer. */
    public final int payloadBytes;

    final BigInteger numerator;
    final BigInteger denominator;

    Randomizer(int domain, int outputs, int payloadBytes, BigInteger[] ratio) {
        this.domain = domain;
        this.outputs = outputs;
        this.payloadBytes = payloadBytes;
        numerator = ratio[0];
        denominator = ratio[1];
    }

    /** The named outputs, ascending, for these items, ascending. */
    abstract int[] perturb(int[] items, Source source);

    /** The bytes of named outputs. */
    abstract byte[] encode(int[] named);

    /** The outputs that these bytes name, or null for bytes that {@link #encode} cannot have written. */
    abstract int[] decode(byte[] payload);

    /** The probabilities that a true and that an untrue output is named. */
    abstract double[] probabilities();

    /** The randomizer that a document describes, for this question. */
    static Randomizer of(Object document, Question question) throws PlanRefused {
        Fields fields = Fields.of(document, "a randomizer");
        String kind = fields.text("kind", "oue|grr|privset");
        boolean set = kind.equals("privset");
        if (set) {
            fields.only("capacity", "domain", "kind", "ratio", "size");
        } else {
            fields.only("capacity", "domain", "kind", "ratio");
        }
        int domain = fields.integer("domain", 1, MOST_DOMAIN);
        int capacity = fields.integer("capacity", 1, set ? Math.min(domain, MOST_CAPACITY) : 1);
        if (domain != question.domain || capacity != question.capacity) {
            throw PlanRefused.malformed("domain and capacity must be those of the question " + question.name);
        }
        BigInteger[] ratio = ratio(fields);
        if (set) {
            return new PrivSet(domain, ratio, capacity, fields.integer("size", 1, Math.min(domain, MOST_SIZE)));
        }
        return kind.equals("oue") ? new Oue(domain, ratio) : new Grr(domain, ratio);
    }

    private static BigInteger[] ratio(Fields fields) throws PlanRefused {
        BigInteger[] ratio = new BigInteger[2];
        for (int i = 0; i < 2; i++) {
            Object text = fields.list("ratio", 2, 2).get(i);
            ratio[i] = new BigInteger(fields.text(text, "[1-9][0-9]{0,21}", "ratio"));
        }
        boolean powerOfTwo = ratio[1].bitCount() == 1 && ratio[1].bitLength() <= RATIO_BITS + 1;
        boolean lowest = ratio[0].gcd(ratio[1]).equals(BigInteger.ONE);
        if (!powerOfTwo || !lowest || ratio[0].compareTo(ratio[1]) <= 0 || ratio[0].bitLength() > 70) {
            throw fields.wrong("ratio", "above 1 in lowest terms, a numerator below 2^70 over a divisor of 2^40");
        }
        return ratio;
    }

    /** One bit per output, output 0 the lowest bit of the first byte. */
    static byte[] bits(int[] named, int outputs) {
        byte[] bits = new byte[(outputs + 7) / 8];
        for (int output : named) {
            bits[output >> 3] |= (byte) (1 << (output & 7));
        }
        return bits;
    }

    /** The outputs of a bit vector, or null if an unused bit is set. */
    static int[] ofBits(byte[] bits, int outputs) {
        int[] named = new int[8 * bits.length];
        int count = 0;
        for (int output = 0; output < named.length; output++) {
            if ((bits[output >> 3] >> (output & 7) & 1) == 1) {
                named[count++] = output;
            }
        }
        return count > 0 && named[count - 1] >= outputs ? null : Arrays.copyOf(named, count);
    }
}
