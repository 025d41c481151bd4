// @ts-check
// How the catalog panel looks; colours are those of the theme.

export const PANEL_STYLE = `
.jp-PaimonCatalog { display: flex; flex-direction: column; min-width: 180px; color: var(--jp-ui-font-color1); background: var(--jp-layout-color1);
  font: var(--jp-ui-font-size1, 13px)/1.45 var(--jp-ui-font-family, sans-serif); font-variant-numeric: tabular-nums; }
.jp-PaimonCatalog :is(h3, p, ul, dl, pre) { margin: 4px 0; } .jp-PaimonCatalog h3 { font-size: 13px; font-weight: 600; overflow-wrap: anywhere; unicode-bidi: isolate; }
.jp-PaimonCatalog-bar { display: flex; gap: 4px; padding: 8px; border-bottom: 1px solid var(--jp-border-color2); }
.jp-PaimonCatalog-bar input { flex: 1; min-width: 0; }
.jp-PaimonCatalog :is(button, input, select, textarea) { font: inherit; color: inherit; background: var(--jp-layout-color1); border: 1px solid var(--jp-border-color1); border-radius: 4px; padding: 1px 8px; box-sizing: border-box; }
.jp-PaimonCatalog button { cursor: pointer; } .jp-PaimonCatalog button:hover { background: var(--jp-layout-color2); }
.jp-PaimonCatalog button.jp-mod-do { border-color: var(--jp-brand-color1); font-weight: 600; } .jp-PaimonCatalog button.jp-mod-danger { border-color: var(--jp-error-color1); font-weight: 600; }
.jp-PaimonCatalog ::placeholder { color: var(--jp-ui-font-color2); opacity: 1; }
.jp-PaimonCatalog :focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: -2px; }
.jp-PaimonCatalog-tree, .jp-PaimonCatalog-hits { flex: 1 1 55%; min-height: 80px; overflow: auto; padding: 4px 0; }
.jp-PaimonCatalog-line { content-visibility: auto; display: flex; overflow: hidden; align-items: baseline; gap: 4px; height: 24px; line-height: 24px; padding-right: 8px; white-space: nowrap; cursor: default; user-select: none; }
.jp-PaimonCatalog-line:hover { background: var(--jp-layout-color2); } .jp-PaimonCatalog-line[aria-selected=true] { background: color-mix(in srgb, var(--jp-brand-color1) 18%, var(--jp-layout-color1)); }
.jp-PaimonCatalog-fold { flex: 0 0 14px; text-align: center; cursor: pointer; } .jp-PaimonCatalog-line .jp-PaimonCatalog-name { flex: 0 0 auto; max-width: 72%; overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
.jp-PaimonCatalog-line .jp-PaimonCatalog-name:last-child { flex: 0 1 auto; max-width: none; }
.jp-PaimonCatalog-line .jp-PaimonCatalog-name:has(span) { display: flex; } .jp-PaimonCatalog-line .jp-PaimonCatalog-name span { overflow: hidden; white-space: pre; }
.jp-PaimonCatalog-name span:first-child { flex: 0 100000 auto; min-width: 2em; text-overflow: ellipsis; } .jp-PaimonCatalog-name span + span { flex: 0 1 auto; min-width: 0; }
.jp-PaimonCatalog-line[data-kind=table] .jp-PaimonCatalog-name { font-weight: 600; }
.jp-PaimonCatalog-detail, .jp-PaimonCatalog-note, .jp-PaimonCatalog dt { color: var(--jp-ui-font-color2); font-size: 11px; }
.jp-PaimonCatalog-line .jp-PaimonCatalog-detail { flex: 1 1 0; min-width: 0; overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
.jp-PaimonCatalog-line:is(:hover, [aria-selected=true]) .jp-PaimonCatalog-detail { color: inherit; }
.jp-PaimonCatalog-note:not(:empty) { padding: 4px 8px; } .jp-PaimonCatalog-note { overflow-wrap: anywhere; }
.jp-PaimonCatalog .jp-mod-problem { color: var(--jp-ui-font-color1); border-left: 3px solid var(--jp-error-color1); padding-left: 8px; overflow-wrap: anywhere; }
.jp-PaimonCatalog-details, .jp-PaimonCatalog-jobs { overflow: auto; padding: 8px; border-top: 1px solid var(--jp-border-color2); } .jp-PaimonCatalog-details { flex: 1 1 45%; min-height: 80px; }
.jp-PaimonCatalog-jobs { flex: 0 0 auto; max-height: 25%; } .jp-PaimonCatalog-jobs:empty { display: none; }
.jp-PaimonCatalog-headline { font-size: 13px; } .jp-PaimonCatalog dl { display: grid; grid-template-columns: minmax(80px, max-content) 1fr; gap: 2px 12px; align-items: baseline; }
.jp-PaimonCatalog dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: plaintext; } .jp-PaimonCatalog ul { padding-left: 18px; max-height: 160px; overflow: auto; overflow-wrap: anywhere; }
.jp-PaimonCatalog-buttons { display: flex; flex-wrap: wrap; gap: 4px; margin: 8px 0; }
.jp-PaimonCatalog-form label { display: grid; gap: 2px; margin: 8px 0; } .jp-PaimonCatalog-form label span { font-size: 11px; }
.jp-PaimonCatalog textarea { font-family: var(--jp-code-font-family, monospace); resize: vertical; }
.jp-PaimonCatalog pre { padding: 8px; background: var(--jp-layout-color2); font: 12px/1.4 var(--jp-code-font-family, monospace); white-space: pre-wrap; overflow-wrap: anywhere; }
.jp-PaimonCatalog-hits { list-style: none; padding: 4px 0 !important; margin: 0 !important; max-height: none !important; } .jp-PaimonCatalog-hits button { display: block; width: 100%; text-align: left; border: 0; overflow-wrap: anywhere; }
.jp-PaimonCatalog [hidden] { display: none; }
.jp-PaimonExplorer.jp-mod-below { min-height: 300px; }
.jp-PaimonExplorer { overflow: auto; padding: 8px; background: var(--jp-layout-color0); }
@media (forced-colors: active) { .jp-PaimonCatalog-line[aria-selected=true] { outline: 2px solid Highlight; outline-offset: -2px; } }
`;
