import { useCallback, useState, type ReactNode } from 'react';
import type { AdminApi } from './api.js';
import { Chart } from './chart.js';
import { usePolled } from './polled.js';
import { PollProblem } from './problem.js';
import { Table, Tip } from './table.js';
import type { LegacyReport } from './wire.js';
import { ago, compact, count, dateTime, dayOf } from './words.js';

const EVERY_MS = 30_000;
const SPANS = [7, 30, 90] as const;

/** Shows who still uses the legacy API, and whether it can be switched off. */
export function Legacy({ api }: { readonly api: AdminApi }): ReactNode {
  const [days, setDays] = useState<number>(30);
  const read = useCallback(() => api.report(days), [api, days]);
  const polled = usePolled(read, EVERY_MS);
  const { value } = polled;
  return (
    <>
      <PollProblem of={polled} />
      <fieldset className="choice">
        <legend className="visually-hidden">How far back</legend>
        {SPANS.map((span) => (
          <label key={span}>
            <input
              type="radio"
              name="days"
              checked={days === span}
              onChange={() => {
                setDays(span);
              }}
            />
            {span} days
          </label>
        ))}
      </fieldset>
      {value !== undefined && <Report report={value} />}
    </>
  );
}

function Report({ report }: { readonly report: LegacyReport }): ReactNode {
  const { verdict, history, users } = report;
  const total = (name: 'current' | 'legacy'): number => history.reduce((sum, day) => sum + day[name], 0);
  const [current, legacy] = [total('current'), total('legacy')];
  const share = current + legacy === 0 ? 0 : Math.round((100 * legacy) / (current + legacy));
  return (
    <>
      <section className={`verdict ${verdict.kind}`} aria-label="Verdict">
        <h2>May it be switched off?</h2>
        <p>{verdict.text}</p>
      </section>
      <Chart
        title="Requests a day"
        summary={`${count(legacy)} of ${count(legacy + current)} requests used the legacy API: ${String(share)} %`}
        kind="bars"
        rows={history}
        label={({ day }) => dayOf(day)}
        format={compact}
        series={[
          { name: 'current', color: 'var(--accent)', value: (day) => day.current },
          { name: 'legacy', color: 'var(--warn)', value: (day) => day.legacy },
        ]}
      />
      <Table
        title="Who still uses it"
        columns={['Client', 'Requests', 'Last seen', 'First seen', 'Endpoints']}
        empty="Nobody, in this time."
      >
        {users.map((user) => (
          <tr key={user.name}>
            <td>{user.name}</td>
            <td>{count(user.requests)}</td>
            <td>
              <Tip title={dateTime(user.last_at)}>{ago(user.last_at)}</Tip>
            </td>
            <td>
              <Tip title={dateTime(user.first_at)}>{ago(user.first_at)}</Tip>
            </td>
            <td className="wide">
              <ul>
                {user.endpoints.map(({ endpoint, requests }) => (
                  <li key={endpoint}>
                    <code>{endpoint}</code> {count(requests)}
                  </li>
                ))}
              </ul>
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}
