// Section 4 of version 2 of the protocol: what a report that is mixed with others reveals of one person. The steps are
// those of the text, one by one, on doubles.

const RARE = 2 ** -80;
const BLOCK = 256;
const SMALL = 2 ** -40;
const SLACK = 1 + 2 ** -30;
const MARGIN = 1 + 2 ** -20;

/** A sum that keeps what rounding drops. */
function sum(values, from = 0, to = values.length) {
  let [total, rest] = [0, 0];
  for (let at = from; at < to; at += 1) {
    const more = values[at] - rest;
    const next = total + more;
    rest = next - total - more;
    total = next;
  }
  return total;
}

/** How many of n - 1 reports are clones: blocks of [number, probability], and the probability of all other numbers. */
function clones(n, local) {
  const others = n - 1;
  const odds = 1 / (Math.exp(local) - 1);
  const mode = Math.min(Math.floor(n * Math.exp(-local)), others);
  const below = [];
  let [low, weight] = [mode, 1];
  while (low > 0) {
    weight *= low / ((others - low + 1) * odds);
    if (weight < RARE) break;
    low -= 1;
    below.push(weight);
  }
  let omitted = low === 0 ? 0 : weight / (1 - (low - 1) / ((others - low + 2) * odds));
  const weights = [...below.reverse(), 1];
  let high = mode;
  weight = 1;
  while (high < others) {
    weight *= ((others - high) * odds) / (high + 1);
    if (weight < RARE) break;
    high += 1;
    weights.push(weight);
  }
  if (high < others) omitted += weight / (1 - ((others - high - 1) * odds) / (high + 2));
  const whole = sum(weights);
  const blocks = [];
  for (let first = low; first <= high; ) {
    const end = Math.min(first + Math.max(Math.floor(first / BLOCK), 1), high + 1);
    blocks.push([first, sum(weights, first - low, end - low) / whole]);
    first = end;
  }
  return { blocks, omitted: omitted / whole };
}

/** A delta for which n shuffled reports of devices with eps0 `local` are (central, delta)-differentially private. */
export function divergence(n, local, central) {
  if (central >= local) return 0;
  const [e0, e] = [Math.exp(local), Math.exp(central)];
  const alpha = (e0 - e) / (e0 + 1);
  const theta = (e * e0 - 1) / ((e0 - 1) * (e + 1));
  const { blocks, omitted } = clones(n, local);
  return sum(blocks.map(([count, share]) => share * given(count, alpha, theta, e))) * MARGIN + omitted;
}

/** The divergence for a known number of clones. */
function given(count, alpha, theta, e) {
  const total = count + 1;
  const first = Math.min(Math.floor(theta * total) + 1, total);
  let [tail, term] = [0, 1];
  for (let k = first - 1; k < count; k += 1) {
    term *= (count - k) / (k + 1);
    tail += term;
    if (term < SMALL * tail) break;
  }
  const rest = alpha * SLACK - (e - 1) * tail;
  return rest > 0 ? coins(count, first - 1) * rest : 0;
}

/** At least the probability of `heads` among `count` fair coins. */
function coins(count, heads) {
  const tails = count - heads;
  if (tails === 0) return Math.exp(-count * Math.log(2));
  const exponent =
    1 / (12 * count) -
    1 / (12 * heads + 1) -
    1 / (12 * tails + 1) -
    heads * Math.log((2 * heads) / count) -
    tails * Math.log((2 * tails) / count);
  return Math.sqrt(count / (2 * Math.PI * heads * tails)) * Math.exp(exponent);
}
