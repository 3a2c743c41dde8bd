// What a shuffled plan promises, in sentences for the person, before anything is sent.

import { general } from "./checks.js";
import { fraction } from "./exact.js";

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

/** Who shuffles, and what holds if shuffler and curator work together or not; nothing for a direct plan. */
export function shuffledPromise({ epsilon, shuffled, standing }) {
  if (shuffled === null) return [];
  const lines = [
    `Reports are sealed for the curator and go through a shuffler: ${shuffled.operator}, ${shuffled.address}. It hands over at least ` +
      `${grouped(shuffled.batch)} reports at once, in random order and without senders, and cannot read them.`,
    `If shuffler and curator do not work together, one answer costs at most epsilon ${shuffled.epsilon} with delta ` +
      `${general(Number(shuffled.delta))}, as long as ${general(100 * Number(shuffled.honest))} % of these reports come from honest devices.`,
    `If they do, or if somebody fills a batch with forged reports, one answer still costs at most epsilon ${epsilon}.`,
  ];
  if (standing !== null) {
    const [[lifetime, parts], [each, pieces]] = [fraction(standing.lifetime), fraction(epsilon)];
    const most = (lifetime * pieces) / (parts * each);
    lines.push(
      `All ${most} answers of a device together: epsilon ${shuffled.lifetime} with delta ${general(Number(most) * Number(shuffled.delta))}; ` +
        `if shuffler and curator work together, epsilon ${plain(most * each, pieces)}.`,
    );
  }
  return lines;
}

/** A fraction whose denominator is a power of ten, as a decimal. */
function plain(numerator, denominator) {
  const places = String(denominator).length - 1;
  const text = String(numerator).padStart(places + 1, "0");
  return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`.replace(/\.?0+$/, "");
}
