import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { quoted, visible, withoutStacks } from '../../client/visible-text.js';
import { ActButton } from './act.js';
import type { AdminApi } from './api.js';
import { usePolled } from './polled.js';
import { PollProblem } from './problem.js';
import { TextSearch } from './text-search.js';
import { ConversationView } from './conversation.js';
import { SessionName, Table, Tip } from './table.js';
import { ago, dateTime } from './words.js';

const EVERY_MS = 15_000;

/** All sessions, or those that match a search, in pages, latest activity first. */
export function Sessions({ api }: { readonly api: AdminApi }): ReactNode {
  /** The cursors of the pages up to the current one; null for the first. */
  const [trail, setTrail] = useState<readonly (string | null)[]>([null]);
  const [query, setQuery] = useState('');
  /** The text to find in messages; undefined: the list shows sessions by what they are known by. */
  const [text, setText] = useState<string>();
  const [shown, setShown] = useState<string>();
  /** The button that opened the conversation. */
  const opener = useRef<Element | null>(null);
  const open = useCallback((sessionId: string) => {
    opener.current = document.activeElement;
    setShown(sessionId);
    // The browser's Back returns to the list. The URL stays the same: a session's id gives access to it.
    history.pushState(null, '');
  }, []);
  const close = useCallback(() => {
    setShown(undefined);
  }, []);
  useEffect(() => {
    addEventListener('popstate', close);
    return () => {
      removeEventListener('popstate', close);
    };
  }, [close]);
  useEffect(() => {
    if (shown === undefined && opener.current instanceof HTMLElement) opener.current.focus();
  }, [shown]);
  const cursor = trail.at(-1) ?? null;
  const read = useCallback(() => api.sessions(query, cursor), [api, query, cursor]);
  const polled = usePolled(read, EVERY_MS);
  const { value, isOld, refresh } = polled;
  /** Where the next page begins; null: there is none, or the list does not show the page before it yet. */
  const next = isOld ? null : (value?.next ?? null);
  const list = (
    <>
      <PollProblem of={polled} />
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
              <td className="wide" dir="auto">
                {withoutStacks(session.title)}
              </td>
              <td>{session.app ?? '–'}</td>
              <td>{session.rig ?? '–'}</td>
              <td>
                {session.public_key === null ? (
                  '–'
                ) : (
                  <Tip title={visible(session.public_key)}>
                    <code>{brief(visible(session.public_key))}</code>
                  </Tip>
                )}
              </td>
              <td>
                <Tip title={dateTime(session.updated_at)}>{ago(session.updated_at)}</Tip>
              </td>
              <td>
                <button
                  type="button"
                  className="button small"
                  onClick={() => {
                    open(session.session_id);
                  }}
                >
                  Read
                </button>
              </td>
              <td>
                <ActButton
                  label="Delete"
                  danger
                  confirm={`Delete \u2068${quoted(session.title)}\u2069 with all its messages?`}
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
          // Not `disabled`, which would remove the focus.
          aria-disabled={trail.length === 1}
          onClick={() => {
            if (trail.length > 1) setTrail(trail.slice(0, -1));
          }}
        >
          Newer
        </button>
        <button
          type="button"
          className="button small"
          aria-disabled={next === null}
          onClick={() => {
            if (next !== null) setTrail([...trail, next]);
          }}
        >
          Older
        </button>
      </div>
    </>
  );
  return (
    <>
      {/* Stays mounted while a conversation is shown: another search would be logged as another reading. */}
      <div className="session-list" hidden={shown !== undefined}>
        <Search
          onSearch={(words, inMessages) => {
            setText(inMessages && words !== '' ? words : undefined);
            setQuery(inMessages ? '' : words);
            setTrail([null]);
          }}
        />
        {text === undefined ? list : <TextSearch key={text} api={api} text={text} onRead={open} />}
      </div>
      {shown !== undefined && (
        <ConversationView
          api={api}
          sessionId={shown}
          onBack={() => {
            close();
            history.back();
          }}
        />
      )}
    </>
  );
}

/** A search field. An empty search shows all sessions. */
function Search({
  onSearch,
}: {
  readonly onSearch: (words: string, inMessages: boolean) => void;
}): ReactNode {
  return (
    <form
      className="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        const words = fields.get('q');
        onSearch(typeof words === 'string' ? words.trim() : '', fields.get('in') === 'messages');
      }}
    >
      <label>
        Session, title, wallet, App or client
        <input name="q" type="search" dir="auto" maxLength={200} autoComplete="off" />
      </label>
      <label>
        Search in
        <select name="in">
          <option value="sessions">sessions</option>
          <option value="messages">messages</option>
        </select>
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
