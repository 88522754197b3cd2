import type { IncomingMessage } from 'node:http';
import { ownBytes } from './shared-reads.js';

/** How many chunks may wait in the body before the socket is paused. */
const WAITING_CHUNKS = 16;

/**
 * The body of an answer as a web stream: each chunk as it came from the socket, with backpressure down to TCP.
 * `fail` ends it with an error, and does nothing after its end.
 */
export function streamBody(
  response: IncomingMessage,
  listeners: { onBytes: () => void; onCancel: () => void },
): { body: ReadableStream<Uint8Array>; fail: (reason: unknown) => void } {
  let fail: (reason: unknown) => void = () => undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let open = true;
        fail = (reason) => {
          if (open) controller.error(reason);
          open = false;
        };
        response.on('data', (chunk: Buffer) => {
          listeners.onBytes();
          if (!open) return;
          controller.enqueue(ownBytes(chunk));
          if ((controller.desiredSize ?? 0) <= 0) response.pause();
        });
        response.once('end', () => {
          if (open) controller.close();
          open = false;
        });
      },
      pull() {
        listeners.onBytes();
        response.resume();
      },
      cancel() {
        listeners.onCancel();
      },
    },
    { highWaterMark: WAITING_CHUNKS },
  );
  return {
    body,
    fail: (reason) => {
      fail(reason);
    },
  };
}
