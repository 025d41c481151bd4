// @ts-check
// Pictures that are as wide as there is room: letters keep their size.

/**
 * Draw when the width of an element is known, and whenever it is another.
 * @param {HTMLElement} element @param {(width: number) => void} draw
 * @returns {() => void} ends it
 */
export function whenSized(element, draw) {
  let drawn = element.clientWidth || 840;
  draw(drawn);
  const observer = new ResizeObserver(() => {
    if (!element.clientWidth || element.clientWidth === drawn) return;
    drawn = element.clientWidth;
    draw(drawn);
  });
  observer.observe(element);
  return () => observer.disconnect();
}
