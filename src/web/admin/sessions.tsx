import { useCallback, useState, type ReactNode } from 'react';
import { ActButton } from './act.js';
import type { AdminApi } from './api.js';
import { usePolled } from './polled.js';
import { ShortId, Table } from './table.js';
import { ago, dateTime } from './words.js';

const EVERY_MS = 15_000;

/** All sessions in pages, latest activity first. */
export function Sessions({ api }: { readonly api: AdminApi }): ReactNode {
  /** The cursors of the pages up to the current one; null for the first. */
  const [trail, setTrail] = useState<readonly (string | null)[]>([null]);
  const cursor = trail.at(-1) ?? null;
  const read = useCallback(() => api.sessions(cursor), [api, cursor]);
  const { value, error, refresh } = usePolled(read, EVERY_MS);
  return (
    <>
      <div role="alert">{error !== undefined && <p className="problem">{error.message}</p>}</div>
      {value !== undefined && (
        <Table
          title="Sessions"
          columns={['Session', 'Title', 'App', 'Rig', 'Wallet', 'Active', 'Delete']}
          empty="There are no sessions."
        >
          {value.sessions.map((session) => (
            <tr key={session.session_id}>
              <td>
                <ShortId id={session.session_id} />
              </td>
              <td className="wide">{session.title}</td>
              <td>{session.app ?? '–'}</td>
              <td>{session.rig ?? '–'}</td>
              <td>
                {session.public_key === null ? (
                  '–'
                ) : (
                  <code title={session.public_key}>{brief(session.public_key)}</code>
                )}
              </td>
              <td title={dateTime(session.updated_at)}>{ago(session.updated_at)}</td>
              <td>
                <ActButton
                  label="Delete"
                  danger
                  confirm={`Delete “${session.title}” with all its messages?`}
                  act={async () => {
                    await api.deleteSession(session.session_id);
                    refresh();
                  }}
                />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <div className="pager">
        <button
          type="button"
          className="button small"
          disabled={trail.length === 1}
          onClick={() => {
            setTrail(trail.slice(0, -1));
          }}
        >
          Newer
        </button>
        <button
          type="button"
          className="button small"
          disabled={(value?.next ?? null) === null}
          onClick={() => {
            setTrail([...trail, value?.next ?? null]);
          }}
        >
          Older
        </button>
      </div>
    </>
  );
}

function brief(wallet: string): string {
  return wallet.length <= 14 ? wallet : `${wallet.slice(0, 8)}…${wallet.slice(-4)}`;
}
