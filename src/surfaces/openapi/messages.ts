import type { Schema } from './document.js';
import { flag, record, text, timestamp, words } from './schemas.js';

/** A message in the snapshots of both surfaces. */
export const message: Schema = record(
  {
    sender: words(['user', 'agent', 'system']),
    content: text('The text. Empty for a tool result.'),
    timestamp: {
      ...timestamp,
      description:
        'ISO 8601 in UTC. It never changes. For a reply: the time of its first character; for a tool result: the time of the result.',
    },
    is_streaming: flag('True for the partial text of the running turn. At most one message has it.'),
    tool_result: {
      description: 'The name of a tool, and its result as text.',
      type: ['array', 'null'],
      prefixItems: [text('The name of the tool.'), text('The result as text.')],
      minItems: 2,
      maxItems: 2,
    },
  },
  { description: 'A message of the conversation.' },
);

/** A user message and its reply, as an example. */
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
