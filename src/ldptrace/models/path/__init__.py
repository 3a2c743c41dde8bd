"""The calibrated maximum-entropy path model; `docs/explanation/path-model.md` is its mathematics.

graph        the moves of the grid, and how they follow each other
potentials   features of paths, their log-potentials x, and the path weights they make
passes       forward and backward sums over all paths
answers      which item of each question a feature names
flow         the model at given potentials: all expected answers, and products with their Jacobian
components   the prior's components B_g
sampler      paths drawn exactly
model        PathModel: fit, sample, explain, save, load
"""
