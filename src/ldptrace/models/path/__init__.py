"""The calibrated maximum-entropy path model; `docs/explanation/path-model.md` is its mathematics.

graph        the moves of the grid as states of a chain
potentials   the log-potentials x and the path weights they make
messages     forward and backward sums over all paths
moments      second moments, rows of the Jacobian
answers/     what is expected of each question, one class each
expectation  the model at given potentials: all expected answers and their Jacobian
components   the prior's components B_g
sampler      paths drawn exactly
model        PathModel: fit, sample, explain, save, load
"""
