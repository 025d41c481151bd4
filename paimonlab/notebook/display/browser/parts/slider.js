// @ts-check
import { h } from "./elements.js";

/**
 * A range input whose value is also written in words.
 * @param {{label: string, max: number, min?: number, step?: number, value: number, text: (value: number) => string, onMove: (value: number) => void}} options
 */
export function slider({ label, min = 0, max, step = 1, value, text, onMove }) {
  const output = h("span", { "aria-hidden": "true" }, text(value)); // aria-valuetext says it
  const input = h("input", { type: "range", min, max, step, "aria-label": label, "aria-valuetext": text(value) });
  input.value = String(value);
  /** Show a value without calling `onMove`. @param {number} now */
  const stand = (now) => {
    input.value = String(now);
    output.replaceChildren(text(now));
    input.setAttribute("aria-valuetext", text(now));
  };
  input.addEventListener("input", () => {
    stand(Number(input.value));
    onMove(Number(input.value));
  });
  const move = (/** @type {number} */ to) => {
    input.value = String(to);
    input.dispatchEvent(new Event("input"));
  };
  return { element: h("label", { class: "row" }, label, input, output), input, move, stand };
}
