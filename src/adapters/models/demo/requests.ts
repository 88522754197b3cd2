import type { ToolDescription } from '../../../core/ports/tool.js';
import { fillArguments, nameWords } from './arguments.js';
import { coinsIn, ensNameIn } from './chain-words.js';
import { expressionsIn } from './expressions.js';
import type { Reply } from './reply-shape.js';

/** Common phrases that request well-known tools. */
const PHRASES: readonly { readonly tool: string; readonly asksFor: (text: string) => boolean }[] = [
  {
    tool: 'get_time',
    asksFor: (text) =>
      /\b(?:time|date|day) is it\b|\btime in\b|\b(?:current|present|local|exact) (?:date|time)\b|\b(?:today's date|date today)\b|\b(?:what(?:'s| is)|tell me|give me|show me|do you (?:know|have)|check)\b[^.?!]*?\b(?:the|\p{Lu}\p{L}+) (?:time|date)\b/u.test(
        text,
      ),
  },
  { tool: 'calculate', asksFor: (text) => expressionsIn(text).length > 0 },
  {
    tool: 'get_balance',
    asksFor: (text) =>
      /\bbalances?\b|\bhow (?:much|many) \w+ (?:do|have) i (?:have|own|hold|got)\b/i.test(text),
  },
  {
    tool: 'get_token_price',
    asksFor: (text) =>
      coinsIn(text).length > 0 &&
      (/(?<!\bgas )\bprices?\b|\bworth\b/i.test(text) || /\bhow much is\b(?![^?]*\d)/i.test(text)),
  },
  { tool: 'get_gas_price', asksFor: (text) => /\bgas\b/i.test(text) },
  {
    tool: 'get_block',
    asksFor: (text) =>
      /\bblock\s*(?:number|#|no\.?)?\s*#?\d+|\b(?:latest|newest|last|current) block\b|\bblock (?:number|height)\b/i.test(
        text,
      ),
  },
  {
    tool: 'resolve_name',
    asksFor: (text) =>
      ensNameIn(text) !== undefined && /\bresolve\b|\baddress\b|\bwho (?:is|owns)\b|\blook ?up\b/i.test(text),
  },
  {
    tool: 'list_wallet_requests',
    asksFor: (text) =>
      /\b(?:wallet|pending|open) requests?\b|\bwhat is pending\b|\bpending transactions?\b|\bmy (?:transaction|payment|transfer|signature)s?\b/i.test(
        text,
      ),
  },
];
/** Tools that are called by phrases of their own, or by their exact names. */
const WALLET_TOOLS = ['stage_transaction', 'request_transactions', 'request_signature'];
const VERBS = new Set([
  'get',
  'fetch',
  'read',
  'list',
  'show',
  'find',
  'do',
  'run',
  'call',
  'the',
  'a',
  'my',
  'for',
]);

/** The tool calls that a message requests in plain language, or why a request cannot be fulfilled. */
export function findRequests(
  text: string,
  tools: readonly ToolDescription[],
): { readonly calls: Reply['calls']; readonly obstacle?: string } {
  const phrased = PHRASES.filter(({ asksFor }) => asksFor(text)).map(({ tool }) => tool);
  const absent = phrased.find((name) => !tools.some((tool) => tool.name === name));
  const known = new Set([...PHRASES.map(({ tool }) => tool), ...WALLET_TOOLS]);
  const wanted = tools.filter((tool) =>
    known.has(tool.name) ? phrased.includes(tool.name) || text.includes(tool.name) : isNamed(tool, text),
  );

  const calls: Reply['calls'][number][] = [];
  const obstacles: string[] = [];
  for (const tool of wanted) {
    const filled = fillArguments(tool, text);
    if (filled.kind === 'filled') calls.push(...filled.calls.map((args) => ({ name: tool.name, args })));
    else
      obstacles.push(
        `To call ${tool.name} I need ${filled.names.join(' and ')}: ${example(tool, filled.names)}`,
      );
  }
  const [obstacle] = obstacles;
  if (obstacle !== undefined) return { calls, obstacle };
  if (absent !== undefined) {
    return { calls, obstacle: `For that I would need the tool ${absent}, and it is not offered here.` };
  }
  return { calls };
}

/**
 * True when the text contains all words of a tool's name except verbs like "get": "the weather" for `get_weather`.
 */
function isNamed(tool: ToolDescription, text: string): boolean {
  if (text.includes(tool.name) && tool.name.length > 2) return true;
  const said = new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
  const words = nameWords(tool).filter((word) => !VERBS.has(word));
  return words.length > 0 && words.every((word) => said.has(word) || said.has(`${word}s`));
}

function example(tool: ToolDescription, names: readonly string[]): string {
  const args = Object.fromEntries(names.map((name) => [name, '…']));
  return `/tool ${tool.name} ${JSON.stringify(args)}`;
}
