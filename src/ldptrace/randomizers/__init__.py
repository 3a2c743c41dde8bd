"""Local randomizers with exact probabilities: OUE (the paper's), GRR, and the set-valued PrivSet."""

from ldptrace.randomizers.base import Randomizer
from ldptrace.randomizers.grr import GRR
from ldptrace.randomizers.oue import OUE
from ldptrace.randomizers.privset import PrivSet

__all__ = ["GRR", "OUE", "PrivSet", "Randomizer"]
