import type { RigRequest } from '../../../core/ports/rig.js';
import { readCommand } from './command.js';
import { countAsAsked } from './counting.js';
import { admitIgnorance, noteFact, recall, rememberAsAsked } from './memory.js';
import { describeResults } from './results.js';
import { bewilderment, greet } from './small-talk.js';
import type { Reply } from './reply-shape.js';
import { findRequests } from './requests.js';

/** How much of a message is parsed, in UTF-16 code units. */
const MAX_HEARD = 1_000;

/** Builds the reply to the last message of the history. */
export function makeReply({ messages, tools }: RigRequest): Reply {
  const last = messages.at(-1);
  if (last?.role === 'assistant' && last.toolResults.length > 0) return says(describeResults(last));

  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  const command = readCommand((said.at(-1) ?? '').trim(), tools);
  if (command !== undefined) return command;

  const heard = said.map(listen);
  const text = heard.at(-1) ?? '';
  const earlier = heard.slice(0, -1);
  const ready = rememberAsAsked(text) ?? countAsAsked(text) ?? greet(text, tools);
  if (ready !== undefined) return says(ready);

  const requests = findRequests(text, tools);
  if (requests.calls.length > 0) return { text: '', calls: requests.calls };
  return says(
    recall(text, earlier) ??
      requests.obstacle ??
      noteFact(text) ??
      admitIgnorance(text) ??
      bewilderment(text, tools),
  );
}

function says(text: string): Reply {
  return { text, calls: [] };
}

/** Truncates and normalizes a message, so that no regular expression runs on a text that it is slow on. */
function listen(message: string): string {
  const start = message.slice(0, MAX_HEARD).toWellFormed();
  return start
    .replace(/[^\S\n]+/g, ' ')
    .replace(/\s*\n\s*/g, '\n')
    .trim();
}
