// The websocket: JSON out; JSON and binary frames in. Reconnects by itself.

const LARGEST = 15_900_000;

/** Binary frame → header, with [index, length] pairs replaced by Float64Arrays. */
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const starts = [4 + length];
  const lengths = [];
  const collect = (lane) => {
    for (const value of Object.values(lane)) {
      if (Array.isArray(value)) lengths[value[0]] = value[1];
      else if (value && typeof value === "object") collect(value);
    }
  };
  header.lanes.forEach(collect);
  lengths.forEach((count, k) => (starts[k + 1] = starts[k] + 8 * count));
  const fill = (lane) => {
    for (const [key, value] of Object.entries(lane)) {
      if (Array.isArray(value)) lane[key] = new Float64Array(buffer, starts[value[0]], value[1]);
      else if (value && typeof value === "object") fill(value);
    }
  };
  header.lanes.forEach(fill);
  return header;
}

export class Connection {
  constructor({ onMessage, onOpen, onLost }) {
    this.onMessage = onMessage;
    this.onOpen = onOpen;
    this.onLost = onLost;
    this.wait = 500;
    this.refused = false;
    this.open();
  }

  open() {
    this.socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/stream`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.wait = 500;
      this.onOpen();
    };
    this.socket.onmessage = (event) => {
      const message = typeof event.data === "string" ? JSON.parse(event.data) : unpack(event.data);
      if (message.about === "full") this.refused = true;
      this.onMessage(message);
    };
    this.socket.onclose = () => {
      this.onLost(this.refused);
      setTimeout(() => this.open(), this.refused ? 10_000 : this.wait);
      this.refused = false;
      this.wait = Math.min(8000, this.wait * 1.6);
    };
  }

  send(message) {
    const text = JSON.stringify(message);
    if (text.length > LARGEST) throw new Error("this is too large to be sent to the studio");
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
  }
}

/** POST to the server; a refusal becomes an Error with the server's sentence. */
export async function post(path, body) {
  const response = await fetch(path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });
  if (!response.ok) {
    const answer = await response.json().catch(() => ({}));
    throw new Error(answer.message ?? `the server answered ${response.status}`);
  }
  return response;
}
