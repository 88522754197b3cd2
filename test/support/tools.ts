import type { Tool } from '../../src/core/ports/tool.js';

/** A tool that returns at once. */
export const getTime: Tool = {
  name: 'get_time',
  description: 'Tells the time.',
  parameters: { type: 'object', properties: { zone: { type: 'string' } } },
  sideEffects: 'none',
  timeoutMs: null,
  run: ({ zone }) => Promise.resolve({ time: '12:00', zone: zone ?? null }),
};

/** A tool that reports progress on its way: a multi-step one. */
export const climb: Tool = {
  name: 'climb',
  description: 'Climbs a hill.',
  parameters: { type: 'object' },
  sideEffects: 'none',
  timeoutMs: null,
  run: (_, context) => {
    context.progress('half way');
    return Promise.resolve('on top');
  },
};

/** A tool that fails. */
export const stumble: Tool = {
  name: 'stumble',
  description: 'Falls.',
  parameters: { type: 'object' },
  sideEffects: 'none',
  timeoutMs: null,
  run: () => Promise.reject(new Error('the ground was uneven')),
};
