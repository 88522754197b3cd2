import { connect, type Socket } from 'node:net';

/** Sends bytes as they are and resolves with everything that comes back until the other side closes. */
export async function sendRaw(url: string, bytes: string | Buffer): Promise<string> {
  const socket = connectTo(url);
  socket.write(bytes);
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  await new Promise<void>((resolve, reject) => {
    socket.once('end', resolve).once('close', () => {
      resolve();
    });
    socket.once('error', (error) => {
      if (answer === '') reject(error);
      else resolve();
    });
  });
  socket.destroy();
  return answer;
}

/** Takes a received response apart: its status, its head, and the rest as JSON if it is an object, else as text. */
export function parseRaw(received: string): {
  readonly status: number;
  readonly head: string;
  readonly body: unknown;
} {
  const [head = '', text = ''] = received.split('\r\n\r\n', 2);
  return { status: Number(head.split(' ')[1]), body: text.startsWith('{') ? JSON.parse(text) : text, head };
}

/** A bare connection to a served address. */
export function connectTo(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname);
}
