import type { Fault, Figures } from './figures.js';

/** The zeros that matter most; every other fault is counted together. */
const ZEROS: readonly (readonly [string, readonly Fault[]])[] = [
  ['acknowledged messages lost', ['lost']],
  ['doubled', ['doubled']],
  ['mixed attempts', ['mixed']],
  ['sessions left processing', ['neverEnded', 'stuck']],
  ['wrong ends', ['wrongEnd', 'cutShort', 'legacyEnd']],
  ['wallet requests or outcomes lost or doubled', ['walletTwice', 'outcomeLost', 'outcomeTwice']],
  ['wallet outcomes told wrong', ['walletLie', 'outcomeWrong']],
  ['5xx that no fault explains', ['status']],
  ['exits that were not ours', ['crash']],
];

/** The run in a few lines. */
export function summaryOf(run: {
  readonly seed: string;
  readonly about: string;
  readonly took: string;
  readonly figures: Figures;
  readonly played: ReadonlyMap<string, number>;
}): string {
  const { figures } = run;
  const row = (name: string, value: number): string => `  ${String(value).padStart(8)}  ${name}`;
  const counted = ZEROS.map(([name, kinds]) => ({ name, count: figures.faultsOf(kinds) }));
  const others = figures.faults - counted.reduce((sum, { count }) => sum + count, 0);
  const played = [...run.played].map(([name, times]) => `${name} ${String(times)}`).join(', ');
  return [
    `${figures.faults > 0 ? 'FAILED' : 'passed'}: seed ${run.seed}, ${run.about}, ${run.took} s`,
    `  played: ${played}`,
    row('kills', figures.of('kills')),
    row('messages acknowledged', figures.of('acked')),
    row('sessions', figures.of('sessions')),
    ...counted.map(({ name, count }) => row(name, count)),
    row('other faults', others),
  ].join('\n');
}
