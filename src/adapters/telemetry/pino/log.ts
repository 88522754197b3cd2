import { pino, type DestinationStream } from 'pino';
import type { Log } from '../../../core/ports/log.js';
import { createPlainLines, isoTime, type Verdict } from './plain-line.js';
import { standardOutput, type LogOutput } from './standard-output.js';

/** Fields that are always redacted, in any case and spelling. A safety net: no code should log them. */
const PRIVATE = new Set([
  ...[
    'authorization',
    'cookie',
    'setcookie',
    'serviceappkey',
    'xapikey',
    'apikey',
    'appkey',
    'key',
    'digest',
  ],
  ...['secret', 'secrets', 'secretskey', 'token', 'password', 'privatekey', 'mnemonic', 'seed', 'clientid'],
  ...['text', 'content', 'message', 'messages', 'prompt', 'title', 'userstate', 'args', 'result', 'query'],
]);
const SESSION = new Set(['sessionid', 'xsessionid']);
const MAX_DEPTH = 6;

/** Errors whose messages come from this service, the database or the system, and never quote user input. */
const OWN_WORDS = new Set(['RigError', 'StoreUnavailableError', 'StoreError', 'ConfigError', 'SqliteError']);

/**
 * Creates a log of JSON lines. On standard output, `info` lines are buffered for at most 50 ms; others are flushed
 * immediately. Private fields are redacted and session ids shortened. Errors are logged with name, code, stack frames
 * and causes; their message is omitted unless it is known not to quote user input.
 */
export function createLog(options: { level: string; destination?: DestinationStream }): Log {
  const { level, destination } = options;
  const settings = {
    level,
    base: null,
    timestamp: () => `,"time":"${isoTime(Date.now())}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    // `mask` has described the error already. Without this, pino's own serializer describes the description.
    serializers: { err: (described: unknown) => described },
  };
  const output = destination === undefined ? standardOutput() : undefined;
  const place: Pick<LogOutput, 'write'> | undefined = output ?? destination;
  const logger = pino(settings, place);
  const plainLine = createPlainLines(judge);
  const showsInfo = place !== undefined && logger.isLevelEnabled('info');
  return {
    info: (fields, message) => {
      const end = showsInfo ? plainLine(fields, message) : undefined;
      if (end === undefined) logger.info(mask(fields), message);
      else place?.write(`{"level":"info","time":"${isoTime(Date.now())}"${end}`);
    },
    warn: (fields, message) => {
      logger.warn(mask(fields), message);
      output?.flush();
    },
    error: (fields, message) => {
      logger.error(mask(fields), message);
      output?.flush();
    },
  };
}

function mask(fields: object): Record<string, unknown> {
  const masked: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (key !== 'err' || value !== null) masked[key] = shown(key, value, 0);
  }
  return masked;
}

/** Caches normalized field names. */
const plainNames = new Map<string, string>();
const MAX_NAMES = 1_000;

function plainName(key: string): string {
  let plain = plainNames.get(key);
  if (plain === undefined) {
    plain = key.toLowerCase().replaceAll(/[^a-z]/g, '');
    if (plainNames.size < MAX_NAMES) plainNames.set(key, plain);
  }
  return plain;
}

/** Decides how a field is logged, unless its value is null, undefined or a boolean. */
function judge(name: string): Verdict {
  const plain = plainName(name);
  if (PRIVATE.has(plain)) return 'redacted';
  return SESSION.has(plain) ? 'shortened' : 'shown';
}

function shown(key: string, value: unknown, depth: number): unknown {
  if (value === null || value === undefined || typeof value === 'boolean') return value;
  const verdict = judge(key);
  if (verdict === 'redacted') return '[redacted]';
  if (verdict === 'shortened') return typeof value === 'string' ? value.slice(0, 8) : '[redacted]';
  if (value instanceof Error) return describeError(value, depth);
  if (typeof value !== 'object') return value;
  if (depth >= MAX_DEPTH) return '[deeper]';
  if (Array.isArray(value)) return value.map((item) => shown('', item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, shown(name, item, depth + 1)]),
  );
}

function describeError(error: Error, depth: number): object {
  const isOwn = OWN_WORDS.has(error.name) || 'syscall' in error;
  return {
    type: error.name,
    ...(isOwn ? { message: error.message } : {}),
    ...facts(error),
    stack: frames(error),
    ...(error.cause === undefined || depth >= MAX_DEPTH
      ? {}
      : { cause: describeCause(error.cause, depth + 1) }),
  };
}

function describeCause(cause: unknown, depth: number): unknown {
  return cause instanceof Error ? describeError(cause, depth) : { type: typeof cause };
}

/** The short fields that identify the kind of failure. */
function facts(error: object): Record<string, unknown> {
  const kept = ['code', 'errno', 'syscall', 'status', 'statusCode', 'reason', 'retryable'];
  return Object.fromEntries(
    Object.entries(error).filter(
      ([key, value]) => kept.includes(key) && ['string', 'number', 'boolean'].includes(typeof value),
    ),
  );
}

/** The stack frames without the head, which repeats the message and could contain text that looks like frames. */
function frames(error: Error): string[] {
  const head = `${error.name}: ${error.message}`;
  const stack = error.stack ?? '';
  const rest = stack.startsWith(head) ? stack.slice(head.length) : stack.replaceAll(error.message, '');
  return rest
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
}
