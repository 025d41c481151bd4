// @ts-check
// The host of a widget: what is chosen becomes the trait `selected`, questions are messages.

let questions = 0;

/** @param {{model: any, el: HTMLElement}} context */
function renderWidget({ model, el }) {
  const data = model.get("data");
  const tell = (/** @type {any} */ selection) => {
    model.set("selected", selection);
    if (selection.range) model.set("range", selection.range);
    model.save_changes();
  };
  const ask = (/** @type {Record<string, unknown>} */ request) =>
    new Promise((resolve, reject) => {
      const number = (questions += 1);
      const hear = (/** @type {any} */ message) => {
        if (message.number !== number) return;
        model.off("msg:custom", hear);
        if (message.error) reject(new Error(message.error));
        else resolve(message.reply);
      };
      model.on("msg:custom", hear);
      model.send({ number, request });
    });
  const host = pageHost(data, { el, tell, ask: model.get("can_answer") ? ask : null });
  const place = document.createElement("div");
  el.append(place);
  return render({ data, el: place, host });
}
export default { render: renderWidget };
