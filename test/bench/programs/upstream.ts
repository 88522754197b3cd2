/**
 * The scripted upstream: an OpenAI-compatible endpoint that streams. The last user message says what it answers:
 * `tokens=50 pace=20` is 50 tokens, one each 20 ms, the first after 20 ms too; `pace=0` is flat out: each round of the
 * event loop gives one token to each open answer. A token carries the time at which it was sent, as `t` and
 * microseconds. A request for a title is answered at once, in a few words.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { sharedMicros } from '../machine.js';
import { listen } from './listen.js';

interface Answer {
  readonly res: ServerResponse;
  left: number;
  readonly pace: number;
  /** When the next token is due, in milliseconds; of no meaning flat out. */
  due: number;
}

const TITLE_MARK = 'Give the conversation a title';
const flat = new Set<Answer>();
const paced = new Set<Answer>();
let isTurning = false;

function chunk(delta: object, finish: string | null, more: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const base = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'scripted',
  };
  return `data: ${JSON.stringify({ ...base, choices, ...more })}\n\n`;
}

const MARK = 't0000000000000000';
const [BEFORE = '', AFTER = ''] = chunk({ content: ` ${MARK} ` }, null).split(MARK);
const USAGE = { prompt_tokens: 7, completion_tokens: 50, total_tokens: 57 };
const END = `${chunk({}, 'stop', { usage: USAGE })}data: [DONE]\n\n`;

/** True when the answer is over. */
function step(answer: Answer): boolean {
  answer.left--;
  if (answer.left < 0) {
    answer.res.end(END);
    return true;
  }
  answer.res.write(`${BEFORE}t${String(sharedMicros()).padStart(16, '0')}${AFTER}`);
  return false;
}

function turn(): void {
  for (const answer of flat) {
    if (answer.res.closed || (!answer.res.writableNeedDrain && step(answer))) flat.delete(answer);
  }
  isTurning = flat.size > 0;
  if (isTurning) setImmediate(turn);
}

setInterval(() => {
  const now = performance.now();
  for (const answer of paced) {
    if (answer.res.closed) paced.delete(answer);
    while (answer.due <= now && paced.has(answer)) {
      answer.due += answer.pace;
      if (step(answer)) paced.delete(answer);
    }
  }
}, 1);

function answerTo(body: string, res: ServerResponse): void {
  res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  if (body.includes(TITLE_MARK)) {
    res.end(chunk({ content: 'A short title' }, null) + END);
    return;
  }
  const [, tokens = '1', pace = '0'] = /.*tokens=(\d+) pace=(\d+)/s.exec(body) ?? [];
  const answer = { res, left: Number(tokens), pace: Number(pace), due: performance.now() + Number(pace) };
  if (answer.pace > 0) {
    res.flushHeaders();
    paced.add(answer);
    return;
  }
  flat.add(answer);
  if (!isTurning) setImmediate(turn);
  isTurning = true;
}

function take(req: IncomingMessage, res: ServerResponse): void {
  let body = '';
  req.setEncoding('utf8').on('data', (text: string) => (body += text));
  req.once('end', () => {
    answerTo(body, res);
  });
}

listen(createServer(take));
