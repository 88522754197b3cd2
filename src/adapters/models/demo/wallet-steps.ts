import { parseUnits } from '../../../core/model/amount.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/model/json.js';
import { resultText, type ToolCall, type ToolResult } from '../../../core/model/message.js';
import type { PromptMessage } from '../../../core/ports/rig.js';
import type { ToolDescription } from '../../../core/ports/tool.js';
import { paymentsIn, type Payment } from './payments.js';
import type { Reply } from './reply-shape.js';
import { signatureIn } from './signing.js';

const NEEDS_WALLET =
  'For that I need a connected wallet. Connect one, in an App that may ask it to sign, and send your message again.';
const TRANSFER = 'function transfer(address to, uint256 amount)';
const CHAIN_NAMES = /(?<id>\d{1,15}) \((?<name>[^()]{1,60})\)/g;

/** A message of the user: as it was written, and truncated and normalized. */
export interface Said {
  readonly raw: string;
  readonly normalized: string;
}

interface Done {
  readonly call: ToolCall;
  readonly result: ToolResult;
}

/**
 * The next step of a payment or a signature that the last message requests: look a token up, stage, request, and then
 * instruct the person to approve. Undefined: the message requests neither.
 * @param steps what followed the message
 */
export function walletStep(
  { raw, normalized }: Said,
  steps: readonly PromptMessage[],
  tools: readonly ToolDescription[],
): Reply | undefined {
  const wish = signatureIn(raw) ?? paymentsIn(normalized, chainsIn(tools));
  if (wish === undefined) return undefined;
  const isOffered = (name: string): boolean => tools.some((tool) => tool.name === name);
  const needed = wish.kind === 'sign' ? 'request_signature' : 'stage_transaction';
  if (!isOffered(needed)) return says(NEEDS_WALLET);
  if (wish.kind === 'unclear') return says(wish.words);

  const done = steps.flatMap(resultsIn);
  const failed = done.find(({ result }) => result.failed);
  if (failed !== undefined)
    return says(`I asked your wallet for nothing: ${ended(resultText(failed.result.result))}`);
  if (wish.kind === 'sign') {
    const asked = done.find(({ call }) => call.name === 'request_signature');
    return asked === undefined
      ? { text: '', calls: [{ name: 'request_signature', args: wish.args }] }
      : says(approvalWords('sign in your wallet', asked.result.result));
  }

  const tokens = tokensFound(done);
  const unknown = new Set(
    wish.payments.flatMap(({ token }) => (token !== undefined && !tokens.has(token) ? [token] : [])),
  );
  const onChain = wish.chainId === undefined ? {} : { chain_id: wish.chainId };
  if (unknown.size > 0) {
    if (!isOffered('get_token_balance') || tokens.size > 0)
      return says(`I cannot send ${[...unknown].join(' or ')} here, only the chain's own currency.`);
    const calls = [...unknown].map((token) => ({ name: 'get_token_balance', args: { token, ...onChain } }));
    return { text: '', calls };
  }
  return paymentStep(wish.payments, { done, tokens, onChain });
}

/** Stages, requests, or says that the wallet is asked. */
function paymentStep(
  payments: readonly Payment[],
  {
    done,
    tokens,
    onChain,
  }: {
    readonly done: readonly Done[];
    readonly tokens: ReadonlyMap<string, JsonObject>;
    readonly onChain: JsonObject;
  },
): Reply {
  const asked = done.find(({ call }) => call.name === 'request_transactions');
  const staged = done
    .filter(({ call }) => call.name === 'stage_transaction')
    .map(({ result }) => (isJsonObject(result.result) ? result.result : {}));
  if (asked !== undefined) {
    const what = staged.map(({ label, chain }) => `${textOf(label)} on ${textOf(chain)}`).join(', and ');
    return says(approvalWords(`approve in your wallet: ${what}`, asked.result.result));
  }
  if (staged.length > 0) {
    const unsound = staged.find(({ simulation }) => !isJsonObject(simulation) || simulation.success !== true);
    if (unsound !== undefined) return says(failureWords(unsound));
    return {
      text: '',
      calls: [{ name: 'request_transactions', args: { ids: staged.map(({ id = null }) => id) } }],
    };
  }
  const calls: JsonObject[] = [];
  for (const { amount, token, value, to } of payments) {
    const found = token === undefined ? undefined : tokens.get(token);
    if (token === undefined || found === undefined) calls.push({ to, value, ...onChain });
    else {
      const units = parseUnits(amount, typeof found.decimals === 'number' ? found.decimals : 0);
      if (units === undefined) return says(`${amount} ${token} has more decimals than the token.`);
      const label = `send ${amount} ${token} to ${to}`;
      const args = [to, String(units)];
      const onSame = typeof found.chain_id === 'number' ? { chain_id: found.chain_id } : onChain;
      calls.push({ to: textOf(found.token), function: TRANSFER, args, label, ...onSame });
    }
  }
  return { text: '', calls: calls.map((args) => ({ name: 'stage_transaction', args })) };
}

/** The tokens that were looked up, by symbol in upper case. */
function tokensFound(done: readonly Done[]): ReadonlyMap<string, JsonObject> {
  return new Map(
    done.flatMap(({ call, result: { result } }) =>
      call.name === 'get_token_balance' && isJsonObject(result)
        ? [[textOf(call.args.token).toUpperCase(), result] as const]
        : [],
    ),
  );
}

function failureWords({ id = null, label, simulation }: JsonObject): string {
  const reason = isJsonObject(simulation) ? textOf(simulation.revert_reason) : '';
  const why = reason === '' ? '' : `: ${reason}`;
  return ended(
    `I asked your wallet for nothing, because the simulation of request ${resultText(id)} (${textOf(label)}) failed${why}`,
  );
}

function approvalWords(what: string, result: JsonValue): string {
  const requested = isJsonObject(result) && Array.isArray(result.requested) ? result.requested : [];
  const ids = requested.map((id: JsonValue) => resultText(id)).join(' and ');
  const names = `${requested.length === 1 ? 'Request' : 'Requests'} ${ids}`;
  const hasEnded = isJsonObject(result) && isJsonObject(result.outcomes);
  if (hasEnded) return `${names} ended before: ask me about my wallet requests.`;
  return `Please ${what}. ${names} ${requested.length === 1 ? 'is' : 'are'} waiting, and I will report the outcome.`;
}

function resultsIn(step: PromptMessage): readonly Done[] {
  if (step.role === 'user') return [];
  return step.toolResults.flatMap((result) => {
    const call = step.toolCalls.find(({ callId }) => callId === result.callId);
    return call === undefined ? [] : [{ call, result }];
  });
}

/** The chains by name, in lower case, from the descriptions of tools. */
function chainsIn(tools: readonly ToolDescription[]): ReadonlyMap<string, number> {
  const chains = new Map<string, number>();
  for (const { parameters } of tools) {
    const { chain_id: chain } = isJsonObject(parameters.properties) ? parameters.properties : {};
    const description = isJsonObject(chain) ? textOf(chain.description) : '';
    for (const { groups } of description.matchAll(CHAIN_NAMES))
      chains.set((groups?.name ?? '').toLowerCase(), Number(groups?.id));
  }
  return chains;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function says(text: string): Reply {
  return { text, calls: [] };
}

function ended(sentence: string): string {
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}
