import { useCallback, useState, type ReactNode } from 'react';
import type { AdminApi } from './api.js';
import { Charts } from './charts.js';
import { usePolled } from './polled.js';
import { PollProblem } from './problem.js';
import { FailureTable, OpenTurnTable } from './turns.js';
import type { Overview } from './wire.js';
import { count } from './words.js';

const EVERY_MS = 5_000;

/** Shows running turns, latencies and failures. */
export function OverviewPane({ api }: { readonly api: AdminApi }): ReactNode {
  const [span, setSpan] = useState<'hour' | 'day'>('hour');
  const read = useCallback(() => api.overview(span), [api, span]);
  const polled = usePolled(read, EVERY_MS);
  const { value, refresh } = polled;
  return (
    <>
      <PollProblem of={polled} />
      {value !== undefined && <Cards overview={value} isCurrent={polled.error === undefined} />}
      <fieldset className="choice">
        <legend className="visually-hidden">Span of the charts</legend>
        {(['hour', 'day'] as const).map((choice) => (
          <label key={choice}>
            <input
              type="radio"
              name="span"
              checked={span === choice}
              onChange={() => {
                setSpan(choice);
              }}
            />
            {choice === 'hour' ? 'Last hour' : 'Last day'}
          </label>
        ))}
        <span className="hint">all nodes</span>
      </fieldset>
      {value !== undefined && (
        <>
          <Charts points={value.points} />
          <OpenTurnTable api={api} turns={value.turns} onChange={refresh} />
          <FailureTable failures={value.failures} />
        </>
      )}
    </>
  );
}

function Cards({
  overview,
  isCurrent,
}: {
  readonly overview: Overview;
  readonly isCurrent: boolean;
}): ReactNode {
  const { status, running, queued, sessions } = overview;
  const active = (value: number): string =>
    value >= sessions.most ? `${count(sessions.most)}+` : count(value);
  const service = status === 'ok' ? 'Ready' : status;
  const cards = [
    ['Service', isCurrent ? service : 'Unknown'],
    ['Turns running', count(running)],
    ['Turns waiting', count(queued)],
    ['Sessions, last hour', active(sessions.hour)],
    ['Sessions, last day', active(sessions.day)],
  ] as const;
  return (
    <dl className="cards">
      {cards.map(([name, value]) => (
        <div key={name} className="card">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
