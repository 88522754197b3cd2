import { resultText } from '../../../core/model/message.js';
import { WALLET_REPORT } from '../../../core/rigs/context-window.js';
import type { RigRequest } from '../../../core/ports/rig.js';
import { readCommand } from './command.js';
import { countAsAsked } from './counting.js';
import { admitIgnorance, noteFact, recall, rememberAsAsked } from './memory.js';
import { describeResults } from './results.js';
import { bewilderment, greet } from './small-talk.js';
import type { Reply } from './reply-shape.js';
import { findRequests } from './requests.js';
import { outcomeSentence } from './wallet-verdicts.js';
import { walletStep } from './wallet-steps.js';

/** How much of a message is parsed, in UTF-16 code units. */
const MAX_NORMALIZED = 1_000;

/** Builds the reply to the last message of the history. */
export function makeReply({ messages, tools }: RigRequest): Reply {
  const last = messages.at(-1);
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  const raw = said.at(-1) ?? '';
  if (last?.role === 'assistant' && last.toolResults.length > 0) {
    const report = last.toolResults.find(({ name }) => name === WALLET_REPORT);
    if (report !== undefined) return says(outcomeSentence(resultText(report.result)));
    const steps = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
    return walletStep({ raw, normalized: normalize(raw) }, steps, tools) ?? says(describeResults(last));
  }
  const command = readCommand(raw.trim(), tools);
  if (command !== undefined) return command;

  const normalized = said.map(normalize);
  const text = normalized.at(-1) ?? '';
  const earlier = normalized.slice(0, -1);
  const ready = rememberAsAsked(text) ?? countAsAsked(text) ?? greet(text, tools);
  if (ready !== undefined) return says(ready);
  const payment = walletStep({ raw, normalized: text }, [], tools);
  if (payment !== undefined) return payment;

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
function normalize(message: string): string {
  const start = message.slice(0, MAX_NORMALIZED).toWellFormed();
  return start
    .replace(/[^\S\n]+/g, ' ')
    .replace(/\s*\n\s*/g, '\n')
    .trim();
}
