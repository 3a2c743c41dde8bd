package org.ldptrace.device;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The public document of a collection: who is asked what, and what that costs. Section 3 of the protocol. */
public final class Plan {
    private static final int MOST_DOCUMENT = 65536;
    private static final long MOST_WORK = 16777216;
    private static final BigDecimal MOST_EPSILON = BigDecimal.valueOf(20);

    private static final String[] DIRECT =
            {"campaign", "epsilon", "extends", "format", "grid", "method", "rounds", "standing", "version"};
    private static final String[] SHUFFLED =
            {"campaign", "epsilon", "extends", "format", "grid", "method", "rounds", "shuffled", "standing", "version"};

    /** SHA-256 of the document, in hexadecimal. */
    public final String id;

    private final String document;
    /** Ids of the plans that this one extends, from the first to its own. */
    public final List<String> chain;

    public final String method;
    public final Grid grid;
    /** The coordinates of the bounds; null if the plan does not name them. */
    public final String crs;
    /** What all answers together spend at most. */
    public final BigDecimal epsilon;

    public final List<Round> rounds;
    /** The name of the campaign that this plan belongs to, or null. */
    public final String campaign;
    /** The windows of a standing plan, or null. */
    public final Standing standing;
    /** How reports are shuffled; null where they go to the curator directly. */
    public final Shuffled shuffled;

    /** Reads a plan with every check of the protocol. */
    public static Plan read(byte[] document) throws PlanRefused {
        if (document.length > MOST_DOCUMENT) {
            throw new PlanRefused(Problem.PLAN_TOO_LARGE, "a plan has at most " + MOST_DOCUMENT + " bytes");
        }
        try {
            return new Plan(Json.parseCanonical(document), Bytes.ascii(document));
        } catch (Json.Malformed malformed) {
            throw PlanRefused.malformed(malformed.getMessage());
        }
    }

    /** The same, refused unless this is its id. */
    public static Plan read(byte[] document, String planId) throws PlanRefused {
        Plan plan = read(document);
        if (!plan.id.equals(planId)) {
            throw new PlanRefused(Problem.PLAN_CHANGED, "expected plan " + planId + ", got " + plan.id);
        }
        return plan;
    }

    private Plan(Object data, String text) throws PlanRefused, Json.Malformed {
        Fields fields = Fields.of(data, "the plan");
        fields.text("format", "ldptrace-plan");
        boolean isShuffled = Long.valueOf(2).equals(fields.value("version")) && fields.has("shuffled");
        if (!isShuffled && !Long.valueOf(1).equals(fields.value("version"))) {
            throw new PlanRefused(Problem.PLAN_UNKNOWN_VERSION);
        }
        fields.only(isShuffled ? SHUFFLED : DIRECT);
        method = fields.text("method", "[a-z0-9-]{1,32}");
        epsilon = new BigDecimal(fields.text("epsilon", "(0|[1-9][0-9]?)(\\.[0-9]{0,17}[1-9])?"));
        if (epsilon.signum() <= 0 || epsilon.compareTo(MOST_EPSILON) > 0) {
            throw fields.wrong("epsilon", "above 0 and at most " + MOST_EPSILON);
        }
        campaign = fields.value("campaign") == null ? null : campaignOf(fields.value("campaign"));
        standing = fields.value("standing") == null ? null : new Standing(fields.value("standing"), epsilon);
        Fields area = Fields.of(fields.value("grid"), "grid").only("bounds", "crs", "n");
        crs = area.textOrNull("crs", "[A-Za-z0-9:._/-]{1,64}");
        grid = gridOf(area);
        List<Round> found = new ArrayList<>();
        for (Object entry : fields.list("rounds", 1, 16)) {
            found.add(Round.of(grid.n, entry));
        }
        rounds = Collections.unmodifiableList(found);
        checkCosts();
        String extended = fields.textOrNull("extends", "[0-9a-f]{64}");
        if (standing != null && (rounds.size() > 1 || extended != null)) {
            throw PlanRefused.malformed("a standing plan has one round and extends nothing");
        }
        shuffled = isShuffled ? new Shuffled(fields.value("shuffled"), epsilon, standing != null) : null;
        if (shuffled != null) {
            checkShuffled(extended);
        }
        document = text;
        id = Bytes.sha256(text);
        chain = Collections.unmodifiableList(chainOf(Json.object(data), id));
    }

    private void checkShuffled(String extended) throws PlanRefused {
        if (rounds.size() > 1 || extended != null) {
            throw PlanRefused.malformed("a shuffled plan has one round and extends nothing");
        }
        if (!isPrivate()) {
            throw new PlanRefused(Problem.PLAN_NOT_PRIVATE);
        }
        shuffled.check(epsilon);
    }

    private static String campaignOf(Object document) throws PlanRefused {
        Fields fields = Fields.of(document, "campaign").only("name", "nonce");
        fields.text("nonce", "[0-9a-f]{32}");
        return fields.text("name", "[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?");
    }

    private static Grid gridOf(Fields fields) throws PlanRefused {
        double[] bounds = new double[4];
        for (int i = 0; i < 4; i++) {
            Object text = fields.list("bounds", 4, 4).get(i);
            if (!(text instanceof String) || !Json.isDecimal((String) text)) {
                throw fields.wrong("bounds", "four decimals in strings, each the shortest of its value");
            }
            bounds[i] = Double.parseDouble((String) text);
        }
        if (!(bounds[0] < bounds[2] && bounds[1] < bounds[3])) {
            throw fields.wrong("bounds", "x0, y0, x1, y1 with x0 < x1 and y0 < y1");
        }
        return new Grid(bounds, fields.integer("n", 2, 256));
    }

    private void checkCosts() throws PlanRefused {
        long work = 0;
        BigInteger spent = BigInteger.ZERO;
        for (Round round : rounds) {
            for (Round.Ask ask : round.asks) {
                work += ask.work();
            }
            spent = spent.add(round.spent());
        }
        if (work > MOST_WORK) {
            throw new PlanRefused(Problem.PLAN_TOO_LARGE, "a plan costs a device at most " + MOST_WORK + " steps");
        }
        if (Exact.exceeds(spent, epsilon)) {
            throw new PlanRefused(Problem.PLAN_OVERSPENDS);
        }
    }

    /** Section 3.3: the ids of the plans that this one extends, from the first to its own. */
    private static List<String> chainOf(Map<String, Object> data, String id) throws PlanRefused, Json.Malformed {
        List<String> ids = new ArrayList<>();
        Object extended = data.get("extends");
        if (extended != null) {
            List<Object> rounds = Json.list(data.get("rounds"));
            Map<String, Object> earlier = new TreeMap<>(data);
            earlier.put("extends", null);
            for (int count = 1; count < rounds.size(); count++) {
                earlier.put("rounds", rounds.subList(0, count));
                ids.add(Bytes.sha256(Json.write(earlier)));
                earlier.put("extends", ids.get(count - 1));
            }
            if (!extended.equals(earlier.get("extends"))) {
                throw PlanRefused.malformed("the plan does not extend the plan it names");
            }
        }
        ids.add(id);
        return ids;
    }

    /** Version of the document and of its reports: 2 if they are shuffled, otherwise 1. */
    public int version() {
        return shuffled == null ? 1 : 2;
    }

    /** The document itself. */
    public String document() {
        return document;
    }

    /** Id of the first plan of the chain: one epsilon covers all plans with the same root. */
    public String root() {
        return chain.get(0);
    }

    /** Whether the number and size of messages are the same for every trajectory. */
    public boolean isPrivate() {
        for (Round round : rounds) {
            if (!round.isPadded) {
                return false;
            }
        }
        return true;
    }
}
