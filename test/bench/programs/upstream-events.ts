import { Agent, request, type IncomingMessage } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

/** Asks the upstream, and hands on the text of each token as it comes. Resolves when the answer is over. */
export function streamTokens(
  upstream: string,
  message: string,
  onText: (text: string) => void,
): Promise<void> {
  const payload = JSON.stringify({
    model: 'scripted',
    stream: true,
    messages: [{ role: 'user', content: message }],
  });
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(payload) };
    const asked = request(`${upstream}/v1/chat/completions`, { method: 'POST', agent, headers });
    asked.once('error', reject);
    asked.once('response', (answer) => {
      readEvents(answer, onText);
      answer.once('end', resolve).once('error', reject);
    });
    asked.end(payload);
  });
}

function readEvents(answer: IncomingMessage, onText: (text: string) => void): void {
  let rest = '';
  answer.setEncoding('utf8').on('data', (piece: string) => {
    const frames = (rest + piece).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const data = frame.slice('data: '.length);
      if (data === '[DONE]') continue;
      const text = contentOf(JSON.parse(data));
      if (text !== undefined) onText(text);
    }
  });
}

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
}

function contentOf(chunk: unknown): string | undefined {
  return isChunk(chunk) ? chunk.choices[0]?.delta.content : undefined;
}

/** As little as will do: what is measured against this shall not gain by its checks. */
function isChunk(value: unknown): value is Chunk {
  return typeof value === 'object' && value !== null && 'choices' in value;
}
