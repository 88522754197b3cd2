import { useCallback, type ReactNode } from 'react';
import type { AdminApi } from './api.js';
import { usePolled } from './polled.js';
import { ShortId, Table } from './table.js';
import { count, dateTime } from './words.js';

const EVERY_MS = 10_000;

/** Shows how much of their limits sessions and App keys have used today, and the storage used by each App's secrets. */
export function Uses({ api }: { readonly api: AdminApi }): ReactNode {
  const read = useCallback(async () => {
    const [{ uses }, kept] = await Promise.all([api.uses(), api.secrets()]);
    return { uses, kept };
  }, [api]);
  const { value, error } = usePolled(read, EVERY_MS);
  return (
    <>
      <div role="alert">{error !== undefined && <p className="problem">{error.message}</p>}</div>
      {value !== undefined && (
        <Table
          title="Used today"
          columns={['Whose', 'What', 'Since', 'Used', 'Of']}
          empty="Nothing is counted: no limits are configured, or nobody has used anything today."
        >
          {value.uses.map((spent) => (
            <tr key={`${spent.kind} ${spent.id} ${spent.measure} ${spent.window_from}`}>
              <td>
                {spent.kind} <ShortId id={spent.id} />
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
