// Texts of a view that are cut with no way to read them, or lie over each other: returns sentences.

(frame) => {
  const found = [];
  const boxes = [];
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const walker = document.createTreeWalker(frame, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.data.trim();
    if (!text || !isShown(element) || element.closest("style, option, title, .hidden, details:not([open]) > :not(summary)") || element.matches("details:not([open])")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter((rect) => rect.width > 1 && rect.height > 1);
    if (!rects.length) continue;
    let clip = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };
    let isScrolled = false;
    for (let around = element; around && around !== document.body; around = around.parentElement) {
      const style = getComputedStyle(around);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const box = around.getBoundingClientRect();
      if (["auto", "scroll"].includes(style.overflowX) || ["auto", "scroll"].includes(style.overflowY)) isScrolled = true;
      else if (!isScrolled) {
        const over = Math.max(...rects.map((rect) => Math.max(rect.right - box.right, box.left - rect.left)));
        if (over > 2 && !element.closest("[title], [data-title]") && !element.closest("svg")) found.push(`cut by ${over.toFixed(0)} px: ${text.slice(0, 50)}`);
      }
      clip = { left: Math.max(clip.left, box.left), right: Math.min(clip.right, box.right), top: Math.max(clip.top, box.top), bottom: Math.min(clip.bottom, box.bottom) };
    }
    const svg = element.closest("svg");
    if (svg && !isScrolled) {
      const box = svg.getBoundingClientRect();
      for (const rect of rects) if (rect.right > box.right + 2 || rect.left < box.left - 2 || rect.bottom > box.bottom + 3 || rect.top < box.top - 3) found.push(`outside of its picture: ${text.slice(0, 50)}`);
    }
    for (const rect of rects) {
      const seen = { left: Math.max(rect.left, clip.left), right: Math.min(rect.right, clip.right), top: Math.max(rect.top, clip.top), bottom: Math.min(rect.bottom, clip.bottom) };
      if (seen.right > seen.left && seen.bottom > seen.top) boxes.push({ ...seen, text, element });
    }
  }
  boxes.sort((one, two) => one.top - two.top);
  boxes.forEach((one, at) => {
    for (let next = at + 1; next < boxes.length && boxes[next].top < one.bottom; next++) {
      const two = boxes[next];
      if (one.element === two.element || getComputedStyle(one.element).position === "sticky") continue;
      if (one.element.closest("thead, .sticky") !== two.element.closest("thead, .sticky")) continue;
      const across = Math.min(one.right, two.right) - Math.max(one.left, two.left);
      const down = Math.min(one.bottom, two.bottom) - two.top;
      if (across > 3 && down > 5) found.push(`texts over each other: ${one.text.slice(0, 30)} and ${two.text.slice(0, 30)}`);
    }
  });
  return [...new Set(found)];
}
