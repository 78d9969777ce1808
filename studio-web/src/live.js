// The live view: a running network of peers. It shows what peers say about themselves; they never tell private values.
import { byId, make } from "./dom.js";
import { number } from "./words.js";

export class Live {
  receive(message) {
    byId("live-says").textContent = message.message ?? "";
    byId("live-peers").replaceChildren(...(message.peers ?? []).map((peer) => make("tr", {}, make("td", {}, peer.name), make("td", {}, peer.state), make("td", {}, number(peer.estimate)))));
  }
}
