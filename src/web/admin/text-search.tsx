import { useCallback, useEffect, useState, type ReactNode } from 'react';
import { withoutStacks } from '../../client/visible-text.js';
import { ActButton } from './act.js';
import { messageOf } from './action.js';
import { Problem } from './problem.js';
import type { AdminApi } from './api.js';
import { SessionName, Table, Tip } from './table.js';
import type { FoundRow } from './wire.js';
import { ago, dateTime } from './words.js';

/**
 * The sessions that have a message with a text, latest activity first. Each request searches a number of sessions, and is
 * logged.
 */
export function TextSearch(props: {
  readonly api: AdminApi;
  readonly text: string;
  readonly onRead: (sessionId: string) => void;
}): ReactNode {
  const { api, text, onRead } = props;
  const [found, setFound] = useState<readonly FoundRow[]>([]);
  /** Where the search continues; null: all sessions were searched; undefined: the first response has not arrived. */
  const [next, setNext] = useState<string | null>();
  const [problem, setProblem] = useState<string>();
  const search = useCallback(
    async (cursor: string | null) => {
      const page = await api.search(text, cursor);
      setFound((known) => (cursor === null ? page.sessions : [...known, ...page.sessions]));
      setNext(page.next);
    },
    [api, text],
  );
  useEffect(() => {
    search(null).catch((error: unknown) => {
      setProblem(messageOf(error));
    });
  }, [search]);
  return (
    <>
      <Problem text={problem} />
      {next === undefined && problem === undefined && <p role="status">Searching…</p>}
      {next !== undefined && (
        <Table
          title="Sessions with this text"
          columns={['Session', 'Title', 'Message', 'Active', 'Read']}
          empty={
            next === null
              ? 'No message has this text.'
              : 'No message of the sessions searched so far has this text.'
          }
        >
          {found.map((row) => (
            <tr key={row.session_id}>
              <td>
                <SessionName row={row} />
              </td>
              <td className="wide" dir="auto">
                {withoutStacks(row.title)}
              </td>
              <td className="wide">
                {row.role}: <bdi>{withoutStacks(row.excerpt)}</bdi>
              </td>
              <td>
                <Tip title={dateTime(row.updated_at)}>{ago(row.updated_at)}</Tip>
              </td>
              <td>
                <button
                  type="button"
                  className="button small"
                  onClick={() => {
                    onRead(row.session_id);
                  }}
                >
                  Read
                </button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {typeof next === 'string' && (
        <div className="pager">
          <ActButton label="Search older sessions" act={() => search(next)} />
        </div>
      )}
    </>
  );
}
