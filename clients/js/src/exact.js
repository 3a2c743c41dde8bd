// Section 3.2 of the protocol: budgets as logarithms, in fixed point with 160 bits after the point.

const BITS = 160n;
const ONE = 1n << BITS;

/** 2 artanh(a / b) for a / b at most 1/3. */
function twiceArtanh(a, b) {
  const z = (a << BITS) / b;
  const square = (z * z) >> BITS;
  let [power, sum] = [z, 0n];
  for (let odd = 1n; power > 0n; odd += 2n) {
    sum += power / odd;
    power = (power * square) >> BITS;
  }
  return 2n * sum;
}

const LN2 = twiceArtanh(1n, 3n);

/** ln(numerator / denominator) for a ratio above 1. */
function logarithm(numerator, denominator) {
  let doublings = 0n;
  let scaled = denominator;
  while (2n * scaled <= numerator) {
    scaled *= 2n;
    doublings += 1n;
  }
  return doublings * LN2 + twiceArtanh(numerator - scaled, numerator + scaled);
}

/** Whether the rounds together spend more than epsilon, a decimal in a string. */
export function overspends(rounds, epsilon) {
  let spent = 0n;
  for (const { assignment, asks } of rounds) {
    const budgets = asks.map(
      ({ question, randomizer }) =>
        BigInt(question.slots) * logarithm(randomizer.numerator, randomizer.denominator),
    );
    spent +=
      assignment === "everyone"
        ? budgets.reduce((sum, budget) => sum + budget, 0n)
        : budgets.reduce((most, budget) => (budget > most ? budget : most), 0n);
  }
  const [numerator, denominator] = fraction(epsilon);
  return spent * denominator > numerator * ONE;
}

/** A non-negative decimal as numerator and denominator. */
export function fraction(text) {
  const [whole, digits = ""] = text.split(".");
  return [BigInt(whole + digits), 10n ** BigInt(digits.length)];
}
