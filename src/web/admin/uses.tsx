import { useCallback, useState, type ReactNode } from 'react';
import type { AdminApi } from './api.js';
import { usePolled } from './polled.js';
import { PollProblem } from './problem.js';
import { SessionName, ShortId, Table } from './table.js';
import type { Spent, Work } from './wire.js';
import { count, dateTime } from './words.js';

const EVERY_MS = 10_000;

const SPANS = [
  [1, 'Today'],
  [7, '7 days'],
  [30, '30 days'],
] as const;

/**
 * Shows the turns and tokens of each App and key, how much of their limits sessions and App keys have used today, and
 * the storage used by each App's secrets.
 */
export function Uses({ api }: { readonly api: AdminApi }): ReactNode {
  const [days, setDays] = useState(1);
  const read = useCallback(async () => {
    const [{ uses, work }, kept] = await Promise.all([api.uses(days), api.secrets()]);
    return { uses, work, kept };
  }, [api, days]);
  const polled = usePolled(read, EVERY_MS);
  const { value } = polled;
  return (
    <>
      <PollProblem of={polled} />
      <fieldset className="choice">
        <legend className="visually-hidden">Days (UTC)</legend>
        {SPANS.map(([choice, name]) => (
          <label key={choice}>
            <input
              type="radio"
              name="days"
              checked={days === choice}
              onChange={() => {
                setDays(choice);
              }}
            />
            {name}
          </label>
        ))}
        <span className="hint">UTC</span>
      </fieldset>
      {value !== undefined && (
        <Table
          title="By App and key"
          columns={['App', 'Key', 'Turns', 'Input tokens', 'Output tokens']}
          empty="No messages in this time."
        >
          {value.work.map((row) => (
            <tr key={`${row.app} ${row.key_id ?? ''}`}>
              <td>{row.app}</td>
              <td>
                <KeyName row={row} />
              </td>
              <td>{count(row.turns)}</td>
              <td>{count(row.input_tokens)}</td>
              <td>{count(row.output_tokens)}</td>
            </tr>
          ))}
        </Table>
      )}
      {value !== undefined && (
        <Table
          title="Used today"
          columns={['Whose', 'What', 'Since', 'Used', 'Of']}
          empty="Nothing is counted: no limits are configured, or nobody has used anything today."
        >
          {value.uses.map((spent) => (
            <tr key={`${spent.kind} ${spent.id} ${spent.measure} ${spent.window_from}`}>
              <td>
                {spent.kind} <SpenderName spent={spent} />
              </td>
              <td>{spent.measure}</td>
              <td>{dateTime(spent.window_from)}</td>
              <td>{count(spent.amount)}</td>
              <td>
                <Share amount={spent.amount} limit={spent.limit} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {value !== undefined && (
        <Table
          title="Secrets kept"
          columns={['App', 'Secrets', 'Bytes', 'Of']}
          empty="No secrets are stored."
        >
          {value.kept.apps.map(({ app, secrets, bytes }) => (
            <tr key={app}>
              <td>{app}</td>
              <td>{count(secrets)}</td>
              <td>{count(bytes)}</td>
              <td>
                <Share amount={bytes} limit={value.kept.max_bytes} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

function SpenderName({ spent: { id, session } }: { readonly spent: Spent }): ReactNode {
  return session === null ? <ShortId id={id} /> : <SessionName row={{ session, session_id: id }} />;
}

function KeyName({ row: { key_id: id, key_label: label } }: { readonly row: Work }): ReactNode {
  if (id === null) return 'none';
  return label === null || label === '' ? <ShortId id={id} /> : label;
}

function Share({ amount, limit }: { readonly amount: number; readonly limit: number | null }): ReactNode {
  if (limit === null) return 'no limit';
  return (
    <span className="share">
      <meter
        min={0}
        max={limit}
        high={limit * 0.9}
        value={amount}
        aria-label={`${String(amount)} of ${String(limit)}`}
      />
      {count(limit)}
    </span>
  );
}
