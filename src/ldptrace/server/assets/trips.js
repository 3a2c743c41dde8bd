// Trips in files. Nothing here sends anything: a file is read in the page and stays there.

import { localSeconds } from "./client/index.js";

const LARGEST = 50_000_000;
// Where GeoJSON has the times of a line's points.
const TIMES = ["times", "coordTimes", "datetimes"];

/** A file that cannot be a trip; the message is the key of a text for the person. */
export class BadFile extends Error {}

/** All trips in a file as { points, arrival }, with [x, y] or [x, y, t] points. A file without any point is an empty list. */
export async function tripsIn(file, { geographic }) {
  if (file.size > LARGEST) throw new BadFile("bigFile");
  const text = await file.text();
  const start = text.trimStart().slice(0, 1);
  if (start === "<") {
    if (!geographic) throw new BadFile("gpxPlane");
    return gpx(text);
  }
  if (start === "{" || start === "[") return geojson(text);
  throw new BadFile("noFile");
}

function gpx(text) {
  const tree = new DOMParser().parseFromString(text, "application/xml");
  if (tree.getElementsByTagName("parsererror").length > 0) throw new BadFile("badXml");
  if (tree.documentElement.localName !== "gpx") throw new BadFile("noGpx");
  const trips = [];
  for (const [line, point] of [["trk", "trkpt"], ["rte", "rtept"]]) {
    for (const track of tree.getElementsByTagNameNS("*", line)) {
      const points = [...track.getElementsByTagNameNS("*", point)].map(gpxPoint);
      if (points.length > 0) trips.push(recording(points));
    }
  }
  return trips;
}

function gpxPoint(element) {
  const [x, y] = ["lon", "lat"].map((name) => Number(element.getAttribute(name) ?? NaN));
  return timed([x, y], element.getElementsByTagNameNS("*", "time")[0]?.textContent ?? "");
}

/**
 * The point with its time, where that is known: a date, seconds since 1970, or below two days those of the local day.
 * `unix` is the moment itself, which clocks that are put back show twice.
 */
function timed(point, when) {
  const seconds = typeof when === "number" ? when : Date.parse(when) / 1000;
  if (!Number.isFinite(seconds)) return { point, unix: NaN };
  if (typeof when === "number" && when < 2 * 86_400) return { point: [...point, when], unix: NaN };
  return { point: [...point, localSeconds(seconds)], unix: seconds };
}

/** A trip with the Unix time of its arrival. */
const recording = (found) => ({ points: found.map(({ point }) => point), arrival: found.at(-1).unix });

function geojson(text) {
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    throw new BadFile("badJson");
  }
  const features = data?.type === "FeatureCollection" ? data.features : [data];
  if (!Array.isArray(features)) throw new BadFile("noGeojson");
  const trips = [];
  let known = data?.type === "FeatureCollection";
  for (const feature of features) {
    const geometry = feature?.type === "Feature" ? feature.geometry : feature;
    const lines = { Point: (c) => [[c]], MultiPoint: (c) => [c], LineString: (c) => [c], MultiLineString: (c) => c }[geometry?.type];
    known ||= feature?.type === "Feature" || lines !== undefined || typeof geometry?.type === "string";
    if (lines === undefined || !Array.isArray(geometry.coordinates)) continue;
    const times = TIMES.map((name) => feature.properties?.[name]).find(Array.isArray) ?? [];
    for (const line of lines(geometry.coordinates)) {
      if (!Array.isArray(line)) continue;
      const when = times.length === line.length ? times : [];
      const found = line.flatMap((point, place) => (Array.isArray(point) ? [timed([Number(point[0]), Number(point[1])], when[place])] : []));
      if (found.length > 0) trips.push(recording(found));
    }
  }
  if (!known) throw new BadFile("noGeojson");
  return trips;
}
