// Reads server-sent events from a response's body. (EventSource cannot send a header, and the key belongs in one.)

export interface ServerEvent {
  name: string;
  data: string;
}

/** The events of one block between empty lines; comments have none. */
function parseBlock(block: string): ServerEvent | null {
  let name = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) {
      name = line.slice("event: ".length);
    } else if (line.startsWith("data: ")) {
      data.push(line.slice("data: ".length));
    }
  }
  return data.length === 0 ? null : { name, data: data.join("\n") };
}

/** Returns at the stream's end; throws where the connection breaks. */
export async function readEvents(body: ReadableStream<Uint8Array>, onEvent: (event: ServerEvent) => void): Promise<void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return;
    }
    rest += decoder.decode(value, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parseBlock(block);
      if (event !== null) {
        onEvent(event);
      }
    }
  }
}
