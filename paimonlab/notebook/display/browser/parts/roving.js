// @ts-check
/**
 * Let arrows, Home, End, PageUp and PageDown move the focus over items; one of them is a tab stop.
 * @param {(HTMLElement | SVGElement)[]} items
 * @param {{onFocus?: (place: number) => void, onChoose?: (place: number, event: Event) => void, page?: number, start?: number}} [options]
 *   `onChoose` is called for Enter, Space and a click; `start` is the tab stop at first
 */
export function roving(items, { onFocus, onChoose, page = 10, start = 0 } = {}) {
  let current = start;
  /** @param {number} place */
  const go = (place) => {
    if (!items.length) return;
    items[current]?.setAttribute("tabindex", "-1");
    current = Math.max(0, Math.min(items.length - 1, place));
    items[current].setAttribute("tabindex", "0");
    items[current].focus();
    onFocus?.(current);
  };
  const steps = /** @type {Record<string, () => number>} */ ({
    ArrowRight: () => current + 1,
    ArrowDown: () => current + 1,
    ArrowLeft: () => current - 1,
    ArrowUp: () => current - 1,
    PageDown: () => current + page,
    PageUp: () => current - page,
    Home: () => 0,
    End: () => items.length - 1,
  });
  items.forEach((item, place) => {
    item.setAttribute("tabindex", place === start ? "0" : "-1");
    item.addEventListener("click", (event) => {
      go(place);
      onChoose?.(place, event);
    });
    item.addEventListener("keydown", (event) => {
      const { key } = /** @type {KeyboardEvent} */ (event);
      if (key in steps) go(steps[key]());
      else if (key === "Enter" || key === " ") onChoose?.(place, event);
      else return;
      event.preventDefault();
    });
  });
  return { go, get current() { return current; } };
}
