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

/** A bare connection to a served address. */
export function connectTo(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname);
}
