import type { Schema } from './document.js';
import { flag, record, text, timestamp, words } from './schemas.js';

/** A message as snapshots of both surfaces show it. */
export const message: Schema = record(
  {
    sender: words(['user', 'agent', 'system']),
    content: text('Empty where a tool’s outcome is shown.'),
    timestamp: {
      ...timestamp,
      description:
        'ISO 8601 in UTC. It never changes: for an answer the time of its first character, for a tool’s outcome that of the result.',
    },
    is_streaming: flag('True for the text of a running turn so far; at most one message has it.'),
    tool_result: {
      description: 'A tool’s outcome: its name, and the result as text.',
      type: ['array', 'null'],
      prefixItems: [text('The name of the tool.'), text('The result as text.')],
      minItems: 2,
      maxItems: 2,
    },
  },
  { description: 'A message of the conversation.' },
);

/** A question and its answer. */
export const messageExamples = [
  {
    sender: 'user',
    content: 'What is 12*(3+4)?',
    timestamp: '2026-11-20T12:03:57.832Z',
    is_streaming: false,
    tool_result: null,
  },
  {
    sender: 'agent',
    content: '',
    timestamp: '2026-11-20T12:03:57.845Z',
    is_streaming: false,
    tool_result: ['calculate', '{"expression":"12*(3+4)","result":"84"}'],
  },
  {
    sender: 'agent',
    content: '12*(3+4) = 84.',
    timestamp: '2026-11-20T12:03:58.257Z',
    is_streaming: false,
    tool_result: null,
  },
];
