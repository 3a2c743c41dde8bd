// Section 2 of the protocol: canonical documents and decimals.

const DEPTH = 16;
const DECIMAL = /^-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/;

/** The canonical text of a value. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const keys = Object.keys(value).sort((a, b) => (a < b ? -1 : 1));
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/** The value of a canonical document, or undefined if it is none. */
export function parse(text) {
  // Strings are printable ASCII without escapes.
  if (/[^ -~]|\\/.test(text) || depth(text) > DEPTH) return undefined;
  try {
    const value = JSON.parse(text, (_, one) => {
      if (typeof one === "number" && !Number.isSafeInteger(one)) throw new Error("not an integer below 2^53");
      return one;
    });
    return canonical(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

function depth(text) {
  let [now, most] = [0, 0];
  for (const bracket of text.match(/[[\]{}]/g) ?? []) {
    now += "[{".includes(bracket) ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}

/** The double that a canonical decimal stands for, or NaN if it is none. */
export function decimal(text) {
  if (typeof text !== "string" || text.length > 40 || !DECIMAL.test(text) || text === "-0") return NaN;
  const value = Number(text);
  return plain(value) === text ? value : NaN;
}

/** The shortest text of a double, without exponent. */
function plain(value) {
  const [, sign, digits, power] = /^(-?)([0-9.]+)(?:e([+-][0-9]+))?$/.exec(String(value));
  if (power === undefined) return sign + digits;
  const [whole, rest = ""] = digits.split(".");
  const point = whole.length + Number(power);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${whole}${rest}`;
  return sign + (whole + rest).padEnd(point, "0");
}
