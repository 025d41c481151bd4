// What a page must hold to whatever it shows: called as `audit(frame)` by tests; returns sentences.

(frame) => {
  const root = frame.getRootNode();
  const found = [];
  const pixel = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const seen = new Map();
  /** A colour of CSS as [red, green, blue, alpha]. */
  const rgba = (text) => {
    if (!seen.has(text)) {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = "#0000";
      pixel.fillStyle = text;
      pixel.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
      seen.set(text, [r, g, b, a / 255]);
    }
    return seen.get(text);
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((value, at) => value * a + below[at] * (1 - a));
  const light = (colour) => {
    const [r, g, b] = colour.map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, two) => {
    const [low, high] = [light(one), light(two)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const up = (node) => node.parentElement ?? (node.getRootNode() !== document ? node.getRootNode().host : null);
  const canvas = (() => {
    const probe = document.createElement("div");
    probe.style.background = "Canvas";
    document.body.append(probe);
    const colour = rgba(getComputedStyle(probe).backgroundColor).slice(0, 3);
    probe.remove();
    return colour;
  })();
  /** What lies behind an element of HTML. */
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = up(at)) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reduceRight((below, layer) => over(layer, below), canvas);
  };
  const opacity = (element) => {
    let all = 1;
    for (let at = element; at; at = up(at)) all *= Number(getComputedStyle(at).opacity);
    return all;
  };
  const name = (element) => `${element.tagName.toLowerCase()}${element.classList.length ? `.${[...element.classList].join(".")}` : ""}`;
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const faded = (colour, element, below) => over([...over(colour, below), opacity(element)], below);

  const walker = document.createTreeWalker(frame, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.data.trim();
    if (!text || !isShown(element) || element.closest("style, option, title, .hidden, :disabled")) continue;
    const style = getComputedStyle(element);
    const isPicture = element instanceof SVGElement;
    let below = ground(isPicture ? element.closest("svg").parentElement : element);
    if (isPicture) {
      const box = element.getBoundingClientRect();
      const stack = root.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      const shapes = stack.filter((one) => one instanceof SVGGeometryElement && one !== element && !["none"].includes(getComputedStyle(one).fill));
      for (const shape of shapes.reverse()) {
        const { fill, fillOpacity } = getComputedStyle(shape);
        if (!fill.startsWith("url")) below = over([...rgba(fill).slice(0, 3), rgba(fill)[3] * fillOpacity * Number(getComputedStyle(shape).opacity)], below);
      }
      if (style.paintOrder.startsWith("stroke") && parseFloat(style.strokeWidth) >= 2) below = over(rgba(style.stroke), below);
    }
    const colour = faded(rgba(isPicture ? style.fill : style.color), element, below);
    const ratio = contrast(colour, below);
    if (ratio < 4.5) found.push(`text of contrast ${ratio.toFixed(2)}: ${name(element)} ${JSON.stringify(text.slice(0, 40))}`);
  }

  for (const field of frame.querySelectorAll("input:placeholder-shown")) {
    if (!isShown(field)) continue;
    const below = ground(field);
    const { color, opacity: own } = getComputedStyle(field, "::placeholder");
    const ratio = contrast(faded([...over(rgba(color), below), Number(own)], field, below), below);
    if (ratio < 4.5) found.push(`placeholder of contrast ${ratio.toFixed(2)}: ${JSON.stringify(field.placeholder)}`);
  }

  for (const shape of frame.querySelectorAll("svg [role=option] :is(rect, circle, path), .bar, .key, [role=treegrid] .mark")) {
    if (!isShown(shape) || shape.closest("[aria-hidden=true] *")) continue;
    const style = getComputedStyle(shape);
    const isPicture = shape instanceof SVGElement;
    const below = ground(isPicture ? shape.closest("svg").parentElement : shape.parentElement);
    const inks = isPicture ? [style.fill, style.stroke] : [style.backgroundColor, style.borderTopStyle === "none" ? "none" : style.borderTopColor, style.outlineStyle === "none" ? "none" : style.outlineColor];
    const best = Math.max(0, ...inks.filter((ink) => ink !== "none" && !ink.startsWith("url")).map((ink) => contrast(faded(rgba(ink), shape, below), below)));
    if (inks.some((ink) => ink.startsWith("url"))) continue;
    if (best < 3) found.push(`shape of contrast ${best.toFixed(2)}: ${name(shape)} in ${name(shape.parentElement)} ${inks}`);
  }

  for (const element of frame.querySelectorAll("*")) {
    if (!isShown(element) || element.closest(".hidden") || (element instanceof SVGElement && element.tagName !== "svg")) continue;
    const { right, width } = element.getBoundingClientRect();
    let around = up(element);
    while (around && getComputedStyle(around).overflowX === "visible") around = up(around);
    const isScrolled = around && ["auto", "scroll"].includes(getComputedStyle(around).overflowX);
    const edge = around ? around.getBoundingClientRect().right : document.documentElement.clientWidth;
    if (width && !isScrolled && right > edge + 1 && getComputedStyle(around ?? frame).textOverflow !== "ellipsis") found.push(`over the edge by ${(right - edge).toFixed(0)} px: ${name(element)}`);
  }

  for (const element of frame.querySelectorAll("*")) {
    const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(element);
    if (animationName !== "none" || !/^(0s(, )?)+$/.test(transitionDuration) || scrollBehavior !== "auto") found.push(`moves: ${name(element)}`);
  }
  if (document.getAnimations().length) found.push("an animation runs");

  for (const table of frame.querySelectorAll("table")) {
    if (!isShown(table)) continue;
    const isNamed = table.caption?.textContent.trim() || table.closest("[aria-label], [aria-labelledby]") !== frame;
    if (!isNamed) found.push(`a table without caption or name: ${table.textContent.slice(0, 40)}`);
    for (const head of table.querySelectorAll("thead th")) if (head.scope !== "col" && head.textContent.trim()) found.push(`a head without scope: ${head.textContent}`);
  }
  for (const control of frame.querySelectorAll("button, input, select, [role=slider], svg[role]")) {
    if (!isShown(control)) continue;
    const label = control.getAttribute("aria-label") || control.labels?.[0]?.textContent || control.textContent;
    if (!label?.trim() && !control.closest("[aria-hidden=true]")) found.push(`nameless: ${name(control)}`);
    if (control.type === "range" && !control.getAttribute("aria-valuetext")) found.push("a slider without words");
  }
  for (const item of frame.querySelectorAll("[role=option]")) if (!item.closest("[role=listbox]")) found.push("an option outside a list box");
  for (const item of frame.querySelectorAll("[role=tab]")) if (!item.closest("[role=tablist]")) found.push("a tab outside a tab list");
  for (const item of frame.querySelectorAll("tr[aria-selected], td[aria-selected]")) if (!item.closest("[role=grid], [role=treegrid]")) found.push(`chosen in no grid: ${name(item)}`);
  if (frame.querySelectorAll("[role=status]").length < 1) found.push("nothing is read aloud");
  const ids = [...root.querySelectorAll("[id]")].map((element) => element.id);
  if (new Set(ids).size < ids.length) found.push("an id twice");
  return [...new Set(found)];
}
