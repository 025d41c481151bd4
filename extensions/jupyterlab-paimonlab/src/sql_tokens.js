// @ts-check
// Where SQL is in a cell, and the words of it. Only what colours need: nothing is parsed.

/** @typedef {{ from: number, to: number, kind: string }} SqlToken */

const CELL = /^\s*(%%(?:paimon|sql))(?=\s|$)/u;
const LINE = /^\s*(?:\w+\s*=\s*)?(%(?:paimon|sql))(?=\s)/u;
const OPTION = /\s*(?:(--?[a-z][\w-]*)(=?)|(--)(?=\s|$)|([^\W\d]\w*\s*=?\s*<<))/uy;
const VALUE = /\s*(?:"[^"]*"|'[^']*'|[^\s"'])+/uy;
/** Options with values, and how many; a plot has a kind and one or two columns. */
const VALUE_COUNTS = /** @type {Record<string, number>} */ ({
  "-o": 1, "--limit": 1, "--max-bytes": 1, "--as-of": 1, "--view": 1, "--to": 1, "--params": 1, "--plot": 3, "--by": 1,
  "--checkpoint": 1, "--engine": 1,
});
const MOST_CHARACTERS = 100_000;

const WORDS = new Set(
  `add after all alter analyze and anti any array as asc at avg begin between bigint binary boolean branch bucket by
  cache call case cast change clear cluster column columns comment commit compact constraint create cross cube current
  database databases date day decimal default delete desc describe distinct distribute double drop else end escape
  except exists explain extended external false fetch filter first float following for from full function functions
  global group grouping having hour identified identifier if ilike in inner insert int integer intersect interval into
  is join key lateral left like limit local location map matched merge minute minus month namespace namespaces natural
  not null nulls of offset on only options or order outer over overwrite partition partitioned partitions percent pivot
  preceding primary procedure properties qualify range recursive refresh rename replace rlike rollback rollup row rows
  schema schemas second select semi set sets show smallint some sort statistics string struct sys system table tables
  tablesample tag tags tblproperties temporary then time timestamp timestamp_ltz timestamp_ntz tinyint to travel true
  truncate unbounded union unpivot unset update use using values variant version view views when where window with
  within year`.split(/\s+/u),
);

/** What a word of SQL may be, in order: the group that matches names the kind. */
const KINDS_OF_SQL = /** @type {const} */ ([
  ["comment", "--[^\\n]*|/\\*[^]*?(?:\\*/|$)"],
  ["string", "'(?:[^'\\\\]|\\\\[^]|'')*'?|\"(?:[^\"\\\\]|\\\\[^])*\"?"],
  ["name", "`(?:[^`]|``)*`?"],
  ["system", "\\$[\\p{L}_]\\w*"],
  ["param", "(?<![:\\w\\])'\"`]):[\\p{L}_]\\w*"],
  ["number", "(?:\\d+\\.?\\d*|\\.\\d+)(?:e[+-]?\\d+)?(?:bd|[lsydf])?(?!\\w)"],
  ["word", "[\\p{L}_][\\p{L}\\p{N}_]*"],
  ["operator", "[^\\s\\w]"],
  ["name", "\\w+"],
]);
const TOKEN = new RegExp(KINDS_OF_SQL.map(([, pattern]) => `(${pattern})`).join("|"), "giu");

/** Words of SQL between two places of a text. @param {string} text @param {number} from @param {number} to @param {SqlToken[]} found */
function sqlTokens(text, from, to, found) {
  const sql = text.slice(0, to);
  TOKEN.lastIndex = from;
  for (let match = TOKEN.exec(sql); match !== null; match = TOKEN.exec(sql)) {
    let group = 1;
    while (match[group] === undefined) group += 1;
    /** @type {string} */
    let kind = KINDS_OF_SQL[group - 1][0];
    const end = TOKEN.lastIndex;
    if (kind === "word") {
      const isMember = sql[match.index - 1] === ".";
      if (WORDS.has(match[0].toLowerCase()) && !isMember) kind = "keyword";
      else kind = sql[end] === "(" ? "function" : "name";
    }
    found.push({ from: match.index, to: end, kind });
  }
}

/** Options up to the first word that is none. @param {string} line @param {number} start @param {SqlToken[]} found @returns {number} where SQL begins */
function optionTokens(line, start, found) {
  let place = start;
  for (;;) {
    OPTION.lastIndex = place;
    const match = OPTION.exec(line);
    if (match === null) return place;
    place = OPTION.lastIndex;
    const width = match[0].trimStart().length;
    found.push({ from: place - width, to: place, kind: match[4] === undefined ? "option" : "param" });
    if (match[3] !== undefined) return place;
    for (let left = VALUE_COUNTS[match[1]] ?? 0; left > 0; left -= 1) {
      VALUE.lastIndex = place;
      const value = VALUE.exec(line);
      const word = value?.[0].trimStart() ?? "-";
      if (value === null || /^(?:-|(?:select|with|from|values|table|call)$)/iu.test(word)) break;
      found.push({ from: VALUE.lastIndex - word.length, to: VALUE.lastIndex, kind: "string" });
      place = VALUE.lastIndex;
    }
  }
}

/**
 * The coloured words of a cell.
 * @param {string} cell its text, at least up to where words are wanted
 * @returns {SqlToken[]} in order, none inside another
 */
export function paimonTokens(cell) {
  /** @type {SqlToken[]} */
  const found = [];
  if (cell.length > MOST_CHARACTERS) return found;
  const magic = CELL.exec(cell);
  if (magic !== null) {
    found.push({ from: magic[0].length - magic[1].length, to: magic[0].length, kind: "magic" });
    const end = cell.indexOf("\n", magic[0].length);
    optionTokens(end < 0 ? cell : cell.slice(0, end), magic[0].length, found);
    if (end >= 0) sqlTokens(cell, end, cell.length, found);
    return found;
  }
  if (!cell.includes("%paimon") && !cell.includes("%sql")) return found;
  let start = 0;
  for (const line of cell.split("\n")) {
    const match = LINE.exec(line);
    if (match !== null) {
      const before = start + match[0].length;
      found.push({ from: before - match[1].length, to: before, kind: "magic" });
      const upTo = cell.slice(0, start + line.length);
      sqlTokens(upTo, optionTokens(upTo, before, found), upTo.length, found);
    }
    start += line.length + 1;
  }
  return found;
}
