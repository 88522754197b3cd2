import { isOfWallet } from '../../../client/wallet-words.js';
import { textOf } from '../../../client/view/history.js';
import type { Block, View, ViewMessage } from '../../../client/view/view.js';

/** A file with a thread. */
export interface Exported {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** Writes a thread as Markdown: its messages, with tool calls as blocks of JSON. */
export function exportMarkdown(view: View): Exported {
  const title = titleOf(view);
  const sections = view.messages.map(
    (message) => `## ${headingOf(message)}\n\n${message.blocks.map(blockText).join('\n\n')}`,
  );
  return {
    name: `${fileName(title)}.md`,
    type: 'text/markdown',
    text: `${[`# ${title}`, ...sections].join('\n\n')}\n`,
  };
}

/** Writes a thread as JSON: its messages with their tool calls, and how their turns went as far as it is known. */
export function exportJson(view: View, sessionId: string): Exported {
  const title = titleOf(view);
  const messages = view.messages.map((message) => {
    const { role, at, fate, origin } = message;
    const tools = message.blocks.flatMap((block) => {
      if (block.kind !== 'tool') return [];
      const { name, args, status, result } = block;
      return [{ name, args, status, result }];
    });
    return {
      ...{ role, at, text: textOf(message) },
      ...(tools.length > 0 && { tools }),
      ...(fate !== undefined && { fate }),
      ...(origin !== undefined && { id: origin.messageId, turn: origin.turn }),
    };
  });
  const text = JSON.stringify({ session_id: sessionId, title, messages }, null, 2);
  return { name: `${fileName(title)}.json`, type: 'application/json', text: `${text}\n` };
}

function titleOf({ title }: View): string {
  return title ?? 'New Chat';
}

function headingOf(message: ViewMessage): string {
  const { role, at, fate, origin } = message;
  const who = {
    user: 'You',
    assistant: 'Assistant',
    system: isOfWallet(textOf(message)) ? 'Wallet' : 'Service',
  }[role];
  const rig = role === 'assistant' ? (origin?.turn.rig ?? '') : '';
  return [who, rig, at ?? '', fate ?? ''].filter((part) => part !== '').join(' · ');
}

function blockText(block: Block): string {
  if (block.kind === 'text') return block.text;
  const { name, args, status, result } = block;
  return fenced(JSON.stringify({ tool: name, args, status, result }, null, 2));
}

/** Returns text as a code block, whose fence is longer than any in the text. */
function fenced(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}

function fileName(title: string): string {
  const words = title.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '');
  return words.slice(0, 60) || 'thread';
}
