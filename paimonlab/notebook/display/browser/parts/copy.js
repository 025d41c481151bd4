// @ts-check
import { h } from "./elements.js";

/** @param {string} label @param {() => string} text @param {(said: string) => void} say */
export function copyButton(label, text, say) {
  return h("button", {
    onclick: async () => {
      try {
        await navigator.clipboard.writeText(text());
        say(`copied: ${text()}`);
      } catch {
        say(text());
      }
    },
  }, label);
}
