import { isJsonObject, type JsonValue } from '../../../core/model/json.js';
import { resultText } from '../../../core/model/message.js';
import { VERDICT_WORDS } from '../../../core/model/wallet-request.js';

/** A line that the service wrote. Labels have no round brackets, and the wallet's own words have no line of their own. */
const VERDICT = new RegExp(
  String.raw`^Wallet request (?<id>\d{1,15}) \((?<label>[^()\n]*)\): (?<verdict>${Object.values(VERDICT_WORDS).join('|')})\.(?<facts>.*)$`,
  'gm',
);
const REJECTED = /^The wallet reported (?<names>requests? [^\n]*?) as rejected: /;
const NAME = /(?<id>\d{1,15}) \((?<label>[^()\n]*)\)/g;

/**
 * States in one sentence what the service found about wallet requests. Says "confirmed" only where the verdict is that.
 * @param report a result of the tool `wallet_report`
 */
export function outcomeSentence(report: string): string {
  const verdicts = [...report.matchAll(VERDICT)].map(({ groups }) => verdictWords(groups));
  if (verdicts.length > 0) return `${verdicts.join('; ')}.`;
  const names = REJECTED.exec(report)?.groups?.names;
  if (names === undefined)
    return 'Your wallet has reported an outcome, but nothing about it is verified yet.';
  const rejected = [...names.matchAll(NAME)].map(({ groups }) => nameOf(groups?.id, groups?.label));
  return `${rejected.join(' and ')} ${rejected.length === 1 ? 'was' : 'were'} rejected in the wallet.`;
}

/** Lists wallet requests, from a result of `list_wallet_requests`. Undefined: it has another shape. */
export function listedRequests(result: JsonValue): string | undefined {
  if (!isJsonObject(result) || !Array.isArray(result.requests)) return undefined;
  const requests = result.requests.filter((request: JsonValue) => isJsonObject(request));
  if (requests.length === 0) return 'Your wallet has been asked for nothing in this conversation.';
  const lines = requests.map(({ id = null, label = null, state = null }) => {
    return `${nameOf(resultText(id), resultText(label))}: ${resultText(state)}.`;
  });
  return lines.join('\n');
}

function verdictWords(groups: Partial<Record<string, string>> = {}): string {
  const { id, label, verdict = '', facts = '' } = groups;
  const name = nameOf(id, label);
  const details = facts.trim().replace(/\.$/, '').replace(': ', ', ');
  const isKept = verdict === VERDICT_WORDS.confirmed || !isMisleading(details);
  const because = details === '' || !isKept ? '' : `: ${details.charAt(0).toLowerCase()}${details.slice(1)}`;
  return `${name} ${linked(verdict)}${because}`;
}

function linked(verdict: string): string {
  if (verdict === VERDICT_WORDS.confirmed) return `is ${verdict}`;
  return verdict === VERDICT_WORDS.not_found ? `was ${verdict}` : verdict;
}

/** Leaves out labels, which others choose, when they seem to state a verdict. */
function nameOf(id = '', label = ''): string {
  return label === '' || isMisleading(label) ? `Request ${id}` : `Request ${id} (${label})`;
}

function isMisleading(words: string): boolean {
  return /confirm/i.test(words);
}
