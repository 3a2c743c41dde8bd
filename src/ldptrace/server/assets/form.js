// The forms for a new campaign and for another plan: what is asked for, as the interface takes it.

/** The body of the request for a new campaign, and the files of its road network. */
export function campaignIn(form) {
  const data = new FormData(form);
  const text = (key) => String(data.get(key) ?? "").trim();
  const numbers = (key) => text(key).split(",").map(Number);
  const body = { name: text("name"), users: Number(text("users")), epsilon: text("epsilon"), bounds: numbers("bounds"), min_reports: Number(text("min_reports")) };
  body.grid = text("grid") === "auto" ? "auto" : Number(text("grid"));
  for (const key of ["title", "organiser", "contact", "notice", "crs", "method"]) if (text(key)) body[key] = text(key);
  if (text("until")) body.until = Date.parse(`${text("until")}T00:00:00Z`) / 1000 + 86_400;
  if (text("opens")) body.opens = Date.parse(`${text("opens")}T00:00:00Z`) / 1000;
  if (data.has("time")) body.time = true;
  if (data.has("week")) body.week = true;
  if (text("centre")) body.centre = numbers("centre");
  if (text("every")) body.every = Math.round(Number(text("every")) * 86_400);
  if (text("lifetime")) body.lifetime = text("lifetime");
  const roads = data.getAll("roads").filter((file) => file.size > 0);
  if (roads.length > 0) body.for_map = true;
  return { body, roads };
}

const question = (plan, name) => plan.rounds[0].asks.find((ask) => ask.question.name === name)?.question;

/** Fill the form for another plan with what the plan of now has. */
export function showPlan(form, plan, users) {
  const departure = question(plan, "departure");
  const { elements } = form;
  elements.users.value = users;
  elements.epsilon.value = plan.epsilon;
  elements.grid.value = plan.grid.n;
  elements.every.value = Number((plan.standing.every / 86_400).toPrecision(6));
  elements.lifetime.value = plan.standing.lifetime;
  elements.time.checked = departure !== undefined;
  elements.week.checked = departure?.days === 7;
  elements.time.dispatchEvent(new Event("change"));
}

/** The body of the request for another plan: the map, its centre, and how late or old answers may be, stay. */
export function planIn(form, plan, streets) {
  const data = new FormData(form);
  const text = (key) => String(data.get(key) ?? "").trim();
  const body = { users: Number(text("users")), epsilon: text("epsilon"), bounds: plan.grid.bounds.map(Number), for_map: streets };
  body.grid = text("grid") === "auto" ? "auto" : Number(text("grid"));
  if (plan.grid.crs) body.crs = plan.grid.crs;
  if (data.has("time")) {
    body.time = true;
    const [x0, y0, x1, y1] = body.bounds;
    const cell = question(plan, "tides")?.centre;
    const middle = (place) => (place + 0.5) / plan.grid.n;
    if (cell !== undefined) body.centre = [x0 + (x1 - x0) * middle(Math.floor(cell / plan.grid.n)), y0 + (y1 - y0) * middle(cell % plan.grid.n)];
  }
  if (data.has("week")) body.week = true;
  body.every = Math.round(Number(text("every")) * 86_400);
  const { start, grace, recent, every } = plan.standing;
  body.start = start;
  body.grace = Math.min(grace, body.every);
  if (recent < every) body.recent = Math.min(recent, body.every);
  body.lifetime = text("lifetime");
  return body;
}

/** What depends on a choice can be filled in only where that was made. */
export function follow(form) {
  const { time, week, centre } = form.elements;
  const update = () => {
    for (const one of [week, centre]) if (one) one.disabled = !time.checked;
  };
  time.addEventListener("change", update);
  form.addEventListener("reset", () => setTimeout(update));
  update();
}
