import { existsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { Command } from 'commander';
import { validate } from 'uuid';
import { systemClock } from '../adapters/platform/uuid/clock.js';
import { resultText, type Message } from '../core/model/message.js';
import type { Session } from '../core/model/session.js';
import type { Store, ThreadCursor } from '../core/ports/store.js';
import { withConfig, withStore, type ConfigFlags } from './configured.js';
import { CommandError, isoTime, printable, printJson, printTable, type Terminal } from './terminal.js';

interface Flags extends ConfigFlags {
  readonly json?: boolean;
}

/** Page size for reading sessions and messages from the store. */
const PAGE = 500;

/** `sessions list|show|export|delete`, for the operator. */
export function sessionsCommand(terminal: Terminal): Command {
  const sessions = new Command('sessions').description('list, show, export and delete sessions');
  withConfig(sessions.command('list'))
    .description('list the sessions, most recent activity first')
    .option('--wallet <address>', 'only sessions bound to this wallet')
    .option('--limit <count>', 'maximum number of sessions', '100')
    .option('--json', 'print JSON')
    .action((flags: Flags & { limit: string; wallet?: string }) => list(terminal, flags));
  withConfig(sessions.command('show'))
    .description('show a session and its last messages')
    .argument('<id>', 'its UUID')
    .option('--limit <count>', 'maximum number of messages', '50')
    .option('--json', 'print JSON')
    .action((id: string, flags: Flags & { limit: string }) => show(terminal, id, flags));
  withConfig(sessions.command('export'))
    .description('write a session with all its messages as JSON')
    .argument('<id>', 'its UUID')
    .option('--out <file>', 'write to this new file instead of stdout')
    .option('--json', 'no effect: an export is always JSON')
    .action((id: string, flags: Flags & { out?: string }) => exportOne(terminal, id, flags));
  withConfig(sessions.command('delete'))
    .description('delete a session and its messages; interrupts a running turn')
    .argument('<id>', 'its UUID')
    .option('--json', 'print JSON')
    .action((id: string, flags: Flags) => deleteOne(terminal, id, flags));
  return sessions;
}

async function list(terminal: Terminal, flags: Flags & { limit: string; wallet?: string }): Promise<void> {
  const limit = countOf(flags.limit);
  const wallet = flags.wallet?.trim().replace(/^0x[0-9a-f]{40}$/i, (address) => address.toLowerCase());
  const found = await withStore(flags, async ({ store }) => {
    const sessions: Session[] = [];
    let after: ThreadCursor | null = null;
    while (sessions.length < limit) {
      const size = Math.min(PAGE, limit - sessions.length);
      const page: Session[] = await store.listSessions({ limit: size, after, wallet });
      sessions.push(...page);
      after = page.at(-1) ?? null;
      if (page.length < size) break;
    }
    return sessions;
  });
  if (flags.json === true) {
    printJson(terminal, found.map(describeSession));
    return;
  }
  const rows = found.map(({ id, title, app, rig, wallet: bound, activeAt }) => [
    id,
    isoTime(activeAt),
    app ?? '-',
    rig ?? '-',
    bound ?? '-',
    title,
  ]);
  printTable(terminal, ['ID', 'ACTIVE', 'APP', 'RIG', 'WALLET', 'TITLE'], rows, 'There are no sessions.');
}

async function show(terminal: Terminal, id: string, flags: Flags & { limit: string }): Promise<void> {
  const limit = countOf(flags.limit);
  const asked = sessionId(id);
  const { session, messages, hasMore } = await withStore(flags, ({ store }) =>
    readSession(store, asked, limit),
  );
  if (flags.json === true) {
    printJson(terminal, {
      ...describeSession(session),
      messages: messages.map(describeMessage),
      has_more: hasMore,
    });
    return;
  }
  const facts = Object.entries(describeSession(session)).map(
    ([name, value]) => `${name}: ${shownFact(value)}`,
  );
  const earlier = hasMore ? ['… earlier messages omitted'] : [];
  const lines = [...facts, '', ...earlier, ...messages.flatMap(messageLines)];
  terminal.output.write(`${lines.map((line) => printable(line, { lines: true })).join('\n')}\n`);
}

async function exportOne(terminal: Terminal, id: string, flags: Flags & { out?: string }): Promise<void> {
  const asked = sessionId(id);
  if (flags.out !== undefined && existsSync(flags.out)) {
    throw new CommandError(`${flags.out} exists; an export never overwrites a file`);
  }
  const { session, messages } = await withStore(flags, ({ store }) => readSession(store, asked, Infinity));
  const text = JSON.stringify(
    { ...describeSession(session), messages: messages.map(describeMessage) },
    null,
    2,
  );
  if (flags.out === undefined) {
    terminal.output.write(`${text}\n`);
    return;
  }
  // Readable by its owner only; fails if the file exists.
  const file = await open(flags.out, 'wx', 0o600);
  try {
    await file.writeFile(`${text}\n`);
  } catch (cause) {
    await rm(flags.out, { force: true });
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`cannot write ${flags.out}, so there is no export: ${reason}`, 1, { cause });
  } finally {
    await file.close();
  }
  terminal.errors.write(`Exported to ${flags.out}.\n`);
}

async function deleteOne(terminal: Terminal, id: string, flags: Flags): Promise<void> {
  const session = sessionId(id);
  const found = await withStore(flags, ({ store }) => store.deleteSession(session, systemClock.now()));
  if (!found) throw notThere(id);
  if (flags.json === true) printJson(terminal, { session_id: session, deleted: true });
  else terminal.output.write(`Deleted ${session}.\n`);
}

/** Reads a session and its last `limit` messages, oldest first. */
async function readSession(
  store: Store,
  id: string,
  limit: number,
): Promise<{ session: Session; messages: Message[]; hasMore: boolean }> {
  const tail = await store.loadTail(id, 0);
  if (tail === 'deleted' || tail === 'unknown') throw notThere(id);
  const messages: Message[] = [];
  let hasMore = true;
  while (hasMore && messages.length < limit) {
    const size = Math.min(PAGE, limit - messages.length);
    const page = await store.readMessages(id, { limit: size, before: messages[0]?.id ?? null });
    // The session was deleted between two pages.
    if (page === 'unknown_message') throw notThere(id);
    messages.unshift(...page.messages);
    hasMore = page.hasMore;
  }
  return { session: tail.session, messages, hasMore };
}

function describeSession(session: Session): Record<string, unknown> {
  return {
    session_id: session.id,
    title: session.title,
    public_key: session.wallet,
    app: session.app,
    rig: session.rig,
    user_state: session.userState?.tree ?? null,
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(session.activeAt),
  };
}

/** Formats a message like `GET /api/sessions/{id}/messages`. */
function describeMessage(message: Message): Record<string, unknown> {
  return {
    id: message.id,
    role: message.role,
    content: message.content,
    tool_calls: message.toolCalls?.map(({ callId, name, args }) => ({ call_id: callId, name, args })) ?? null,
    tool_results:
      message.toolResults?.map(({ callId, name, result, failed }) => ({
        ...{ call_id: callId, name, result },
        ...(failed && { status: 'failed' }),
      })) ?? null,
    created_at: isoTime(message.createdAt),
  };
}

function messageLines(message: Message): string[] {
  const tools = (message.toolResults ?? []).map(
    ({ name, result, failed }) => `  [${name}${failed ? ' failed' : ''}] ${resultText(result)}`,
  );
  return [`${isoTime(message.createdAt)} ${message.role}: ${message.content}`, ...tools];
}

function shownFact(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function sessionId(text: string): string {
  if (!validate(text)) throw new CommandError(`${text} is not a UUID`, 2);
  return text.toLowerCase();
}

function countOf(text: string): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count < 1) throw new CommandError('--limit takes a whole number from 1 to 999999', 2);
  return count;
}

function notThere(id: string): CommandError {
  return new CommandError(`There is no session ${id}`);
}
