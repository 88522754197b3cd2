import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { resultText, type Message } from '../../core/model/message.js';
import type { Session } from '../../core/model/session.js';
import type { Operator } from '../../core/operations/operator.js';
import { record } from '../shared/shapes.js';
import * as output from './output.js';

/** Records per read of the store. */
const PAGE = 200;

/** Reads all records of a session, in order. Their size is bounded by `MAX_SESSION_BYTES`. */
export async function readAll(
  operator: Pick<Operator, 'readMessages'>,
  sessionId: string,
): Promise<readonly Message[]> {
  const pages: (readonly Message[])[] = [];
  for (let before: string | null = null; ;) {
    const page: Awaited<ReturnType<Operator['readMessages']>> = await operator.readMessages(sessionId, {
      limit: PAGE,
      before,
    });
    pages.push(page.messages);
    before = page.messages[0]?.id ?? null;
    if (!page.hasMore || before === null) return pages.reverse().flat();
  }
}

/** Sends a session as a file, piece by piece, so that other requests are served in between. */
export async function sendExport(
  res: Response,
  shown: {
    readonly session: Session;
    readonly messages: readonly Message[];
    readonly format: 'json' | 'markdown';
  },
): Promise<void> {
  const { session, messages, format } = shown;
  const ending = format === 'json' ? 'json' : 'md';
  res.type(format === 'json' ? 'application/json' : 'text/markdown');
  res.attachment(`session-${output.session(session).session}.${ending}`);
  const pieces = format === 'json' ? jsonPieces(session, messages) : markdownPieces(session, messages);
  await pipeline(Readable.from(pieces), res).catch((error: unknown) => {
    // The client has gone.
    if (!res.destroyed) throw error;
  });
}

function* jsonPieces(session: Session, messages: readonly Message[]): Generator<string> {
  yield `${JSON.stringify(output.session(session)).slice(0, -1)},"messages":[`;
  for (const [index, message] of messages.entries()) {
    yield `${index === 0 ? '' : ','}\n${JSON.stringify(record(session.id, message))}`;
  }
  yield '\n]}\n';
}

function* markdownPieces(session: Session, messages: readonly Message[]): Generator<string> {
  yield `# ${oneLine(session.title)}\n\nSession ${session.id}, created ${time(session.createdAt)}\n`;
  for (const message of messages) {
    yield `\n## ${message.role}, ${time(message.createdAt)}\n`;
    if (message.content !== '') yield `\n${message.content}\n`;
    const results = new Map(message.toolResults?.map((result) => [result.callId, result]));
    for (const { callId, name, args } of message.toolCalls ?? []) {
      const result = results.get(callId);
      yield `\nTool call \`${name}\`:\n\n${fenced(JSON.stringify(args, null, 2))}`;
      if (result !== undefined) {
        yield `\n${result.failed ? 'Failed' : 'Result'}:\n\n${fenced(resultText(result.result))}`;
      }
    }
  }
}

/** A code block whose fence is longer than any run of backticks in the text (CommonMark, 4.5). */
function fenced(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function time(at: number): string {
  return new Date(at).toISOString();
}
