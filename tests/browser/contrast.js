(place) => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const seen = new Map();
  const parse = (colour) => {
    if (!seen.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = "#000";
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      seen.set(colour, [r, g, b, a / 255]);
    }
    return [...seen.get(colour)];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const up = (element) => element.parentElement ?? element.getRootNode().host ?? null;
  const luminance = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((x) => (x /= 255) <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element, x, y) => {
    const layers = [];
    if (element.namespaceURI.endsWith("svg")) {
      for (const shape of element.getRootNode().elementsFromPoint(x, y)) {
        if (!shape.namespaceURI.endsWith("svg") || shape.tagName === "svg") break;
        if (!/^(rect|circle|path|polygon|ellipse)$/.test(shape.tagName)) continue;
        const { fill, fillOpacity, opacity } = getComputedStyle(shape);
        if (fill === "none" || fill.startsWith("url")) continue;
        const colour = parse(fill);
        layers.push([...colour.slice(0, 3), colour[3] * fillOpacity * opacity]);
      }
    }
    for (let one = element; one; one = up(one)) {
      if (!one.namespaceURI.endsWith("svg")) layers.push(parse(getComputedStyle(one).backgroundColor));
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const isBeside = (element, x) => {
    for (let one = element; one; one = up(one)) {
      if (getComputedStyle(one).overflowX === "visible") continue;
      const box = one.getBoundingClientRect();
      if (box.width && (x < box.left || x > box.right)) return true;
    }
    return false;
  };
  const found = [];
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.nodeType === 1) {
        if (node.shadowRoot) visit(node.shadowRoot);
        continue;
      }
      const text = node.textContent.trim();
      const element = node.parentElement;
      if (!text || !element || /^(STYLE|SCRIPT|OPTION|title)$/.test(element.tagName)) continue;
      if (element.closest("[disabled], [aria-disabled=true], .hidden")) continue;
      if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      if (box.width < 2 || box.height < 2) continue;
      if (isBeside(element, box.x + box.width / 2)) continue; // scrolled away
      const style = getComputedStyle(element);
      const colour = parse(element.namespaceURI.endsWith("svg") ? style.fill : style.color);
      for (let one = element; one; one = up(one)) colour[3] *= Number(getComputedStyle(one).opacity);
      const background = behind(element, box.x + box.width / 2, box.y + box.height / 2);
      const [one, two] = [luminance(over(colour, background)), luminance(background)].sort((a, b) => b - a);
      const words = (c) => c.map((x) => Math.round(x)).join(",");
      found.push({
        text: text.slice(0, 60), ratio: (one + 0.05) / (two + 0.05),
        colour: words(colour), background: words(background),
      });
    }
  };
  visit(place.shadowRoot ?? place);
  return found;
}
