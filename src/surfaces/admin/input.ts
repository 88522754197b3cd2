import { input } from '../../http/validation/input.js';
import {
  optionalInteger,
  optionalNumber,
  optionalText,
  requiredText,
  requiredTexts,
  withDefault,
} from '../../http/validation/params.js';
import { decodeCursor } from '../shared/page-cursor.js';
import { sessionPath } from '../shared/session.js';

export const overview = input('ignored', {
  span: withDefault(
    optionalText('query', 'span', (chain) =>
      chain.isIn(['hour', 'day']).withMessage('span must be hour or day'),
    ),
    'hour',
  ),
});

const limit = withDefault(optionalInteger('query', 'limit', { min: 1, max: 200 }), 50);
const cursor = optionalText('query', 'cursor', (chain) =>
  chain
    .custom((text: string) => decodeCursor(text) !== undefined)
    .withMessage('cursor must be the next of another page'),
);

/** The sessions that have a message with the text `q`. */
export const searchMessages = input('ignored', {
  text: requiredText('query', 'q', 'the text to find in messages', (chain) =>
    chain.isLength({ min: 2, max: 200 }).withMessage('q must have 2 to 200 characters'),
  ),
  limit,
  cursor,
});

/** A list of sessions; with `q`: those that match. */
export const listSessions = input('ignored', {
  query: withDefault(
    optionalText('query', 'q', (chain) =>
      chain.isLength({ max: 200 }).withMessage('q must have at most 200 characters').trim(),
    ),
    '',
  ),
  limit,
  cursor,
});

export const nameSession = input('ignored', { sessionId: sessionPath });

export const readMessages = input('ignored', {
  sessionId: sessionPath,
  limit,
  before: optionalText('query', 'before', (chain) =>
    chain.isUUID('loose').withMessage('before must be the id of a message').toLowerCase(),
  ),
});

export const exportSession = input('ignored', {
  sessionId: sessionPath,
  format: withDefault(
    optionalText('query', 'format', (chain) =>
      chain.isIn(['json', 'markdown']).withMessage('format must be json or markdown'),
    ),
    'json',
  ),
});

/** What Apps and keys used in the last `days` days, today included. */
export const listUses = input('ignored', {
  days: withDefault(optionalInteger('query', 'days', { min: 1, max: 400 }), 1),
});

export const createKey = input('needed', {
  apps: requiredTexts('body', 'apps', 'the Apps that the key opens'),
  label: withDefault(
    optionalText('body', 'label', (chain) =>
      chain.isLength({ max: 100 }).withMessage('label must have at most 100 characters'),
    ),
    '',
  ),
  /** Days until the key expires; absent: it does not expire. */
  days: optionalNumber('body', 'expires_in_days', { min: 1, max: 3650 }),
});

export const nameKey = input('ignored', { id: requiredText('params', 'id', 'the id of the key') });

/** The report on the use of the legacy surface. */
export const report = input('ignored', {
  days: withDefault(optionalInteger('query', 'days', { min: 1, max: 400 }), 30),
  format: withDefault(
    optionalText('query', 'format', (chain) =>
      chain.isIn(['json', 'csv']).withMessage('format must be json or csv'),
    ),
    'json',
  ),
});
