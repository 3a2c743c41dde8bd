// The language of the page: chosen by the person, or the browser's, or English.

import { TEXTS } from "./texts.js";

const KEY = "ldptrace-language";

/** The language of this page, one of those in `TEXTS`. */
export const language = chosenLanguage();
const own = TEXTS[language];

function chosenLanguage() {
  const wanted = [new URLSearchParams(location.search).get("lang"), remembered(), ...navigator.languages];
  const known = wanted.map((code) => String(code ?? "").slice(0, 2)).find((code) => Object.hasOwn(TEXTS, code));
  return known ?? "en";
}

function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** A text by its key, `a.b` for one inside another, with what is in {braces} filled in. */
export function say(key, values = {}) {
  const text = key.split(".").reduce((part, name) => part?.[name], own);
  if (typeof text !== "string") throw new Error(`there is no text ${key}`);
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** A text, or undefined where there is none. */
export const known = (key) => key.split(".").reduce((part, name) => part?.[name], own);

/** Fill in all elements with `data-say`, and the choice of languages. */
export function fillIn(root, choice) {
  document.documentElement.lang = language;
  for (const element of root.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
  choice.replaceChildren(...Object.entries(TEXTS).map(([code, { language: name }]) => new Option(name, code, false, code === language)));
  choice.addEventListener("change", () => {
    try {
      localStorage.setItem(KEY, choice.value);
    } catch {
      // Without storage the choice lasts for this page only.
    }
    const address = new URL(location.href);
    address.searchParams.set("lang", choice.value);
    location.replace(address);
  });
}

export const number = (value) => Number(value).toLocaleString(language);
/** A Unix time as a date, or with the time of day. */
export const date = (unix) => new Date(unix * 1000).toLocaleDateString(language, { dateStyle: "long" });
export const dateTime = (unix) => new Date(unix * 1000).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
