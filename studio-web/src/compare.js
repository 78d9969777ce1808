// Several methods by steps, or by what they cost: messages. One step of one method may be many messages of another.
import { ComparisonChart } from "./charts.js";
import { isDark } from "./colours.js";
import { byId, make } from "./dom.js";

export class Comparison {
  /** @param {{send: (message: object) => void}} page */
  constructor({ send }) {
    this.send = send;
    this.data = null;
    this.by = "steps";
    this.radios = ["steps", "messages"].map((by) =>
      make("input", { type: "radio", name: "compare-by", value: by, onchange: () => this.choose(by) }),
    );
    this.says = make("p", { class: "caption", id: "messages-says", hidden: true });
    this.box = make("div", {
      id: "messages-chart",
      class: "chart",
      role: "img",
      hidden: true,
      "aria-label": "relative error of each method against messages, on common axes",
    });
    const legend = make("legend", { class: "unseen" }, "compare by");
    const labels = this.radios.map((radio) => make("label", {}, radio, make("span", {}, `by ${radio.value}`)));
    this.element = make("fieldset", { class: "choice", id: "compare-by" }, legend, ...labels);
    byId("error-card").querySelector("h3").after(this.element);
    byId("error-chart").before(this.box);
    byId("error-readout").before(this.says);
    this.chart = new ComparisonChart(this.box, byId("error-readout"));
    this.show();
  }

  /** A new run: what was compared before does not count any more. */
  prepare() {
    this.data = null;
    if (this.by === "messages") this.ask();
  }

  choose(by) {
    this.by = by;
    this.show();
    if (by === "messages" && !this.data) this.ask();
  }

  ask() {
    this.says.textContent = "Running every method with the same number of messages …";
    this.send({ type: "compare" });
  }

  receive(message) {
    this.data = message;
    this.says.textContent =
      message.message ?? `Every method has spent ${message.messages.toLocaleString("en")} messages.`;
    this.draw();
  }

  show() {
    const costs = this.by === "messages";
    this.radios.forEach((radio) => (radio.checked = radio.value === this.by));
    this.box.hidden = this.says.hidden = !costs;
    byId("error-chart").hidden = costs;
    byId("error-readout").textContent = "";
    for (const toggles of byId("error-card").querySelectorAll(".toggles")) toggles.hidden = costs;
    this.draw();
  }

  draw() {
    if (this.by === "messages" && this.data?.lanes) this.chart.update(this.data, isDark());
  }
}
