// The live map: synthetic travellers on the streets, drawn on a canvas. Positions are computed here, from trips that the
// server sends as they set out.

const LEVELS = ["--street-wide", "--street", "--street"];
const WIDTHS = [2.2, 1.4, 0.7];

/** A trip with the distance of each of its points, so that a position is found in one step. */
function traveller([wait, seconds, x, y, ...steps], now) {
  const xs = [x];
  const ys = [y];
  const ways = [0];
  for (let at = 0; at < steps.length; at += 2) {
    xs.push(xs.at(-1) + steps[at]);
    ys.push(ys.at(-1) + steps[at + 1]);
    ways.push(ways.at(-1) + Math.hypot(steps[at], steps[at + 1]));
  }
  return { begin: now + wait * 1000, seconds, xs, ys, ways, at: 0 };
}

/** The map in a canvas: `start` reads the stream until `stop`. */
export class LiveMap {
  constructor(canvas, { bounds, geographic, streets, told }) {
    const [x0, y0, x1, y1] = bounds;
    const stretch = geographic ? Math.max(Math.cos(((y0 + y1) / 2) * (Math.PI / 180)), 0.01) : 1;
    this.ratio = (y1 - y0) / (x1 - x0) / stretch;
    Object.assign(this, { canvas, streets, told, travellers: [], frames: 0, shownAt: performance.now() });
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(canvas.parentElement);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.resize());
    this.resize();
  }

  /** As wide as there is room, at most as high as the window; the streets are drawn once, behind everything. */
  resize() {
    const room = this.canvas.parentElement.clientWidth;
    if (room === 0) return;
    const width = Math.min(room, (0.8 * innerHeight) / this.ratio);
    const dense = Math.min(devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(width * dense);
    this.canvas.height = Math.round(width * this.ratio * dense);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${width * this.ratio}px`;
    this.dense = dense;
    const style = getComputedStyle(this.canvas);
    this.colour = style.getPropertyValue("--track").trim();
    this.ground = new OffscreenCanvas(this.canvas.width, this.canvas.height);
    const pen = this.ground.getContext("2d");
    pen.fillStyle = style.getPropertyValue("--card").trim();
    pen.fillRect(0, 0, this.ground.width, this.ground.height);
    const { steps, lines, names } = this.streets ?? { steps: 1, lines: [], names: [] };
    const [across, up] = [this.ground.width / steps, this.ground.height / steps];
    [...lines.entries()].reverse().forEach(([rank, ways]) => {
      pen.beginPath();
      for (const [x, y, ...moves] of ways) {
        let [a, b] = [x, y];
        pen.moveTo(a * across, this.ground.height - b * up);
        for (let at = 0; at < moves.length; at += 2) {
          [a, b] = [a + moves[at], b + moves[at + 1]];
          pen.lineTo(a * across, this.ground.height - b * up);
        }
      }
      pen.strokeStyle = style.getPropertyValue(LEVELS[rank]).trim();
      pen.lineWidth = WIDTHS[rank] * dense;
      pen.stroke();
    });
    pen.fillStyle = style.getPropertyValue("--soft").trim();
    pen.font = `${12 * dense}px system-ui, sans-serif`;
    pen.textAlign = "center";
    for (const [x, y, name] of names) pen.fillText(name, x * across, this.ground.height - y * up);
  }

  /** Read travellers from an answer of server-sent events, and draw until `stop`. */
  async start(answer) {
    this.running = true;
    requestAnimationFrame((now) => this.frame(now));
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    this.reader = reader;
    let text = "";
    while (this.running) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
      const parts = text.split("\n\n");
      text = parts.pop();
      for (const part of parts) this.take(part);
    }
  }

  take(message) {
    const line = message.split("\n").find((one) => one.startsWith("data: "));
    if (!line) return;
    const { steps, trips } = JSON.parse(line.slice(6));
    this.steps = steps;
    const now = performance.now();
    for (const trip of trips) this.travellers.push(traveller(trip, now));
  }

  frame(now) {
    if (!this.running) return;
    requestAnimationFrame((next) => this.frame(next));
    if (this.canvas.offsetParent === null || !this.ground) return;
    const pen = this.canvas.getContext("2d");
    pen.drawImage(this.ground, 0, 0);
    const [across, up, high] = [this.canvas.width / this.steps, this.canvas.height / this.steps, this.canvas.height];
    const size = 3 * this.dense;
    pen.fillStyle = this.colour;
    let moving = 0;
    this.travellers = this.travellers.filter((one) => {
      const part = (now - one.begin) / (1000 * one.seconds);
      if (part >= 1) return false;
      if (part < 0) return true;
      const way = part * one.ways.at(-1);
      while (one.at + 2 < one.ways.length && one.ways[one.at + 1] <= way) one.at += 1;
      const [low, next] = [one.at, one.at + 1];
      const share = (way - one.ways[low]) / (one.ways[next] - one.ways[low]);
      const x = one.xs[low] + share * (one.xs[next] - one.xs[low]);
      const y = one.ys[low] + share * (one.ys[next] - one.ys[low]);
      pen.fillRect(x * across - size / 2, high - y * up - size / 2, size, size);
      moving += 1;
      return true;
    });
    this.frames += 1;
    if (now - this.shownAt > 1000) {
      this.told({ moving, rate: (1000 * this.frames) / (now - this.shownAt) });
      [this.frames, this.shownAt] = [0, now];
    }
  }

  stop() {
    this.running = false;
    this.watch.disconnect();
    this.reader?.cancel().catch(() => {});
  }
}
