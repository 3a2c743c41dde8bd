package org.ldptrace.device;

import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * What answers reveal: `central` and `delta` if shuffler and curator do not work together, `local` if they do. A direct answer costs
 * its epsilon in both cases. Section 10 of version 2 of the protocol.
 */
final class Costs {
    static final Costs NOTHING = new Costs(BigDecimal.ZERO, BigDecimal.ZERO, BigDecimal.ZERO);

    final BigDecimal central;
    final BigDecimal delta;
    final BigDecimal local;

    Costs(BigDecimal central, BigDecimal delta, BigDecimal local) {
        this.central = central;
        this.delta = delta;
        this.local = local;
    }

    /** One answer; eps0 of a standing shuffled plan is counted at acceptance. */
    static Costs ofAnswer(Plan plan) {
        if (plan.shuffled == null) {
            return new Costs(plan.epsilon, BigDecimal.ZERO, plan.epsilon);
        }
        BigDecimal local = plan.standing == null ? plan.epsilon : BigDecimal.ZERO;
        return new Costs(plan.shuffled.epsilon, plan.shuffled.delta, local);
    }

    /** The acceptance of a standing plan: eps0 of all answers that the lifetime of a shuffled plan allows. */
    static Costs ofAcceptance(Plan plan) {
        if (plan.shuffled == null) {
            return NOTHING;
        }
        BigDecimal most = plan.standing.lifetime.divide(plan.epsilon, 0, RoundingMode.FLOOR);
        return new Costs(BigDecimal.ZERO, BigDecimal.ZERO, most.multiply(plan.epsilon));
    }

    Costs plus(Costs other) {
        return new Costs(central.add(other.central), delta.add(other.delta), local.add(other.local));
    }
}
