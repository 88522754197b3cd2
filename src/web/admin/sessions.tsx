import { useCallback, useState, type ReactNode } from 'react';
import { ActButton } from './act.js';
import type { AdminApi } from './api.js';
import { usePolled } from './polled.js';
import { ConversationView } from './conversation.js';
import { SessionName, Table } from './table.js';
import { ago, dateTime } from './words.js';

const EVERY_MS = 15_000;

/** All sessions, or those that match a search, in pages, latest activity first. */
export function Sessions({ api }: { readonly api: AdminApi }): ReactNode {
  /** The cursors of the pages up to the current one; null for the first. */
  const [trail, setTrail] = useState<readonly (string | null)[]>([null]);
  const [query, setQuery] = useState('');
  const [shown, setShown] = useState<string>();
  const cursor = trail.at(-1) ?? null;
  const read = useCallback(() => api.sessions(query, cursor), [api, query, cursor]);
  const { value, error, refresh } = usePolled(read, EVERY_MS);
  if (shown !== undefined) {
    return (
      <ConversationView
        api={api}
        sessionId={shown}
        onBack={() => {
          setShown(undefined);
        }}
      />
    );
  }
  return (
    <>
      <Search
        onSearch={(text) => {
          setQuery(text);
          setTrail([null]);
        }}
      />
      <div role="alert">{error !== undefined && <p className="problem">{error.message}</p>}</div>
      {value !== undefined && (
        <Table
          title="Sessions"
          columns={['Session', 'Title', 'App', 'Rig', 'Wallet', 'Active', 'Read', 'Delete']}
          empty={query === '' ? 'There are no sessions.' : 'None of these sessions matches.'}
        >
          {value.sessions.map((session) => (
            <tr key={session.session_id}>
              <td>
                <SessionName row={session} />
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
                <button
                  type="button"
                  className="button small"
                  onClick={() => {
                    setShown(session.session_id);
                  }}
                >
                  Read
                </button>
              </td>
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

/** A search field. An empty search shows all sessions. */
function Search({ onSearch }: { readonly onSearch: (text: string) => void }): ReactNode {
  return (
    <form
      className="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const text = new FormData(event.currentTarget).get('q');
        onSearch(typeof text === 'string' ? text.trim() : '');
      }}
    >
      <label>
        Session, title, wallet, App or client
        <input name="q" type="search" maxLength={200} autoComplete="off" />
      </label>
      <button type="submit" className="button small">
        Search
      </button>
    </form>
  );
}

function brief(wallet: string): string {
  return wallet.length <= 14 ? wallet : `${wallet.slice(0, 8)}…${wallet.slice(-4)}`;
}
