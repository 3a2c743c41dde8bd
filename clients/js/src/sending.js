// Sending a report: to the campaign, or of a shuffled plan to its shuffler and to nobody else.

import { windowOf } from "./reports.js";

const ROUND = 17;

/** Where the bytes go, as what, and the round and the window that the ledger marks when they have arrived. */
async function destination({ plan, ledger }, report, url) {
  if (plan.shuffled === null) {
    if (url === null) throw new Error("say where the report goes: { url: \"https://host/v1/campaigns/NAME\" }");
    const window = plan.standing === null ? null : windowOf(report);
    return { address: `${url.replace(/\/+$/, "")}/reports`, type: "application/vnd.ldptrace.reports", round: report[ROUND], window };
  }
  if (url !== null) throw new Error(`a shuffled plan is sent to its shuffler, ${plan.shuffled.address}: omit the url`);
  const waiting = await ledger?.waiting(plan);
  if (!waiting || waiting.report.length !== report.length || waiting.report.some((byte, at) => byte !== report[at])) {
    throw new Error("these bytes are not the report to this plan that the ledger holds to be sent");
  }
  const place = waiting.window === null ? "" : `/windows/${waiting.window}`;
  const address = `${plan.shuffled.address.replace(/\/+$/, "")}/v2/plans/${plan.id}${place}/reports`;
  return { address, type: "application/vnd.ldptrace.sealed", round: waiting.round, window: waiting.window };
}

/**
 * Sends a report once, and notes in the ledger that it arrived. Otherwise the ledger keeps it, to be sent again later:
 * `code` is the problem of the server, null where it could not be reached or named none.
 */
export async function send(reporter, report, { url = null, admission = null } = {}) {
  const { address, type, round, window } = await destination(reporter, report, url);
  const headers = { "Content-Type": type, ...(admission === null ? {} : { "Ldptrace-Admission": admission }) };
  let answer;
  try {
    // A page behind a redirection does not count the report.
    const options = { redirect: "error", credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store" };
    answer = await fetch(address, { method: "POST", body: report, headers, ...options });
  } catch {
    return { arrived: false, status: null, code: null, title: null };
  }
  const body = await answer.json().catch(() => null);
  const code = typeof body?.type === "string" ? body.type.replace("urn:ldptrace:problem:", "") : null;
  // A shuffler knows equal bytes and answers them as before; a curator says that it has counted a report.
  const before = reporter.plan.shuffled === null && answer.status === 409 && code === "duplicate";
  const arrived = answer.status === 200 || before;
  if (arrived) await reporter.sent(round, window);
  return { arrived, status: answer.status, code, title: body?.title ?? null };
}
