package org.ldptrace.device;

/** A report that no device which follows its plan can have written. */
public final class ReportRejected extends Exception {
    private static final long serialVersionUID = 1L;

    public final Problem problem;

    ReportRejected(Problem problem) {
        super(problem.code + ": " + problem.sentence);
        this.problem = problem;
    }
}
