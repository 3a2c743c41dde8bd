// The form for a new campaign: what is asked for, as the interface takes it.

/** The body of the request for a new campaign, and the files of its road network. */
export function campaignIn(form) {
  const data = new FormData(form);
  const text = (key) => String(data.get(key) ?? "").trim();
  const numbers = (key) => text(key).split(",").map(Number);
  const body = { name: text("name"), users: Number(text("users")), epsilon: text("epsilon"), bounds: numbers("bounds"), min_reports: Number(text("min_reports")) };
  body.grid = text("grid") === "auto" ? "auto" : Number(text("grid"));
  for (const key of ["title", "organiser", "contact", "notice", "crs"]) if (text(key)) body[key] = text(key);
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

/** What depends on a choice can be filled in only where that was made. */
export function follow(form) {
  const { time, week, centre } = form.elements;
  const update = () => {
    for (const one of [week, centre]) one.disabled = !time.checked;
  };
  time.addEventListener("change", update);
  form.addEventListener("reset", () => setTimeout(update));
  update();
}
