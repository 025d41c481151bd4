// What a view must look like, whatever it shows: called as `look(frame)` by tests; returns sentences.

(frame) => {
  const found = [];
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && element.getBoundingClientRect().width > 0;
  const isNumber = (text) => /^[+-]?[\d,]+(\.\d+)?( ([kMGTP]?B|%|s))?$/.test(text);
  /** Lines of the name, without those of its type and what is known of its values. */
  const linesOf = (head) => {
    const range = document.createRange();
    range.selectNodeContents(head.querySelector("button, .name") ?? head);
    const tops = [...range.getClientRects()].map((rect) => rect.bottom).sort((low, high) => low - high);
    return tops.filter((top, at) => !at || top > tops[at - 1] + 8).length;
  };
  const over = document.documentElement.scrollWidth - innerWidth;
  if (over > 0) found.push(`the page is ${over} px too wide`);

  const walker = document.createTreeWalker(frame, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!isShown(node.parentElement) || node.parentElement.closest("style, .hidden")) continue;
    const [odd] = node.parentElement.closest("code, pre, .result") ? [] : node.data.match(/\bL\d\b|\b(APPEND|COMPACT|OVERWRITE|ANALYZE)\b|\b([Hh]atched|[Dd]ashed):|\bNULLs\b/) ?? [];
    if (odd) found.push(`not how views say it (level 0, append, a sign in the legend, nulls): ${odd}`);
    for (const { 0: whole, index } of node.data.matchAll(/\d{4}-\d\d-\d\d|\d[\d.,]*[ \u00a0]([kMGTP]?B|%)(?!\w)/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + whole.length);
      const tops = [...range.getClientRects()].map((rect) => rect.top);
      if (Math.max(...tops) > Math.min(...tops) + 4) found.push(`over two lines: ${whole}`);
    }
  }

  const names = document.createTreeWalker(frame, NodeFilter.SHOW_TEXT);
  for (let node = names.nextNode(); node; node = names.nextNode()) {
    if (!isShown(node.parentElement) || node.parentElement.closest("style, .hidden, code, pre, .result")) continue;
    for (const { 0: name, index } of node.data.matchAll(/(?<![\w…])[\w…]+([.-][\w…]+)*-[\w…]+([.-][\w…]+)*/g)) {
      if (name.length < 15 || name.length > 40) continue;
      const topOf = (at) => {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        return range.getBoundingClientRect().top;
      };
      if ([...name.matchAll(/-/g)].some((sign) => topOf(index + sign.index + 1) > topOf(index + sign.index) + 4)) found.push(`a name broken at a hyphen: ${name}`);
    }
  }

  const said = frame.querySelector(":scope > .status");
  if (said && (!said.textContent || said.matches(".hidden")) && said.getBoundingClientRect().height > 1) found.push("an empty band at the foot");

  const headline = frame.querySelector(".headline");
  if (frame.matches(".frame") && !frame.querySelector(".result, .empty") && !headline?.textContent.trim()) found.push("no headline");

  for (const table of frame.querySelectorAll("table")) {
    if (!isShown(table)) continue;
    const room = table.parentElement;
    if (!frame.matches(".frame") && room && room.scrollWidth > room.clientWidth) found.push(`a table ${room.scrollWidth - room.clientWidth} px too wide: ${table.textContent.slice(0, 40)}`);
    const rows = [...table.querySelectorAll("tbody tr")].filter(isShown);
    if (frame.matches(".frame") && rows.some((row) => /\/|rgba/.test(getComputedStyle(row).borderTopColor))) found.push("a line between rows that a chosen row shines through");
    if (!rows.length) found.push(`a table of heads only: ${table.textContent.slice(0, 40)}`);
    for (const row of rows) {
      const { height } = row.getBoundingClientRect();
      if (height > (frame.matches(".frame") ? 100 : 110) && row.textContent) found.push(`a row ${height.toFixed(0)} px high: ${row.textContent.slice(0, 40)}`);
    }
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
    heads.forEach((head, at) => {
      if (!head.checkVisibility()) return; // left out where there is little room
      const name = head.textContent.trim();
      const { width, height } = head.getBoundingClientRect();
      if (/[a-z][A-Z]/.test(name)) found.push(`a head in camel case: ${name}`);
      if (name.length > 2 && width < Math.min(40, name.length * 7)) found.push(`a column ${width.toFixed(0)} px wide: ${name}`);
      if (linesOf(head) > (frame.matches(".frame") ? 2 : head.querySelector("small") ? 4 : 3)) found.push(`a head of ${linesOf(head)} lines: ${name}`);
      const cells = rows.map((row) => row.cells[at]).filter((cell) => cell?.matches("td") && cell.textContent.trim());
      if (rows.length > 1 && name && !rows.some((row) => row.cells[at]?.textContent.trim() || row.cells[at]?.firstElementChild) && !table.matches(".result")) found.push(`a column of nothing: ${name}`);
      for (const cell of cells) {
        if (isNumber(cell.textContent.trim()) && cell.scrollWidth > cell.clientWidth + 1) found.push(`a number is cut: ${cell.textContent}`);
      }
      const align = cells[0] && getComputedStyle(cells[0]).textAlign;
      if (cells.length && cells.every((cell) => isNumber(cell.textContent.trim())) && !["right", "end"].includes(align)) found.push(`numbers at the left: ${name}`);
    });
  }

  for (const bar of frame.querySelectorAll(".bar")) {
    const room = bar.closest(".scroll")?.getBoundingClientRect();
    if (room && isShown(bar) && bar.getBoundingClientRect().right > room.right + 1) found.push("a bar is cut");
  }

  for (const svg of frame.querySelectorAll("svg")) {
    const texts = [...svg.querySelectorAll("text")].filter(isShown).map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
    texts.forEach((one, at) => texts.slice(at + 1).forEach((two) => {
      const across = Math.min(one.box.right, two.box.right) - Math.max(one.box.left, two.box.left);
      const down = Math.min(one.box.bottom, two.box.bottom) - Math.max(one.box.top, two.box.top);
      if (across > 2 && down > 4) found.push(`labels collide: ${one.text} and ${two.text}`);
    }));
  }
  return [...new Set(found)];
}
