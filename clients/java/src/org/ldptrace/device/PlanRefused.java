package org.ldptrace.device;

/** A plan that is not answered. Nothing was drawn, and nothing was entered into the ledger. */
public final class PlanRefused extends Exception {
    private static final long serialVersionUID = 1L;

    public final Problem problem;

    PlanRefused(Problem problem) {
        this(problem, problem.sentence);
    }

    PlanRefused(Problem problem, String detail) {
        super(problem.code + ": " + detail);
        this.problem = problem;
    }

    static PlanRefused malformed(String detail) {
        return new PlanRefused(Problem.PLAN_MALFORMED, detail);
    }
}
