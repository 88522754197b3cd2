import { cpus } from 'node:os';
import type { Outcome, Pace } from './row.js';

/** On what, and how, was measured. */
export function describeRun({ rounds, seconds }: Pace): string {
  const [first] = cpus();
  const cores = String(cpus().length);
  const how = `${String(rounds)} rounds of ${String(seconds)} s, medians`;
  return `Node ${process.versions.node}, ${cores} cores (${first?.model ?? 'unknown'}), ${process.platform}; ${how}.`;
}

/** The outcomes as a table of Markdown. */
export function renderTable(outcomes: readonly Outcome[]): string {
  const head = ['', 'Diptych', 'against', '', 'got', 'required', 'aim', ''];
  const body = outcomes.map((outcome) => [
    outcome.row,
    figure(outcome.product),
    outcome.against === undefined ? '' : figure(outcome.against),
    outcome.unit,
    figure(outcome.got),
    outcome.required === undefined ? '' : figure(outcome.required),
    outcome.aim === undefined ? '' : figure(outcome.aim),
    verdict(outcome),
  ]);
  const lines = [head, head.map((_, at) => (at === 0 || at === 3 ? '---' : '--:')), ...body];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function verdict({ product, against, got, required, aim, better }: Outcome): string {
  const meets = (bound: number, value = got): boolean =>
    better === 'more' ? value >= bound : value <= bound;
  if (required === undefined) return '';
  if (aim !== undefined && meets(aim)) return 'aim';
  if (meets(required)) return 'yes';
  // Where what does no more than it must cannot meet a bound that is no ratio, the machine cannot.
  const isBeyondAll = got === product && against !== undefined && !meets(required, against);
  return isBeyondAll ? '**short**, both' : '**short**';
}

function figure(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
