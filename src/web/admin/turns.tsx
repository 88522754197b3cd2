import type { ReactNode } from 'react';
import { visibleLine } from '../../client/visible-text.js';
import { ActButton } from './act.js';
import type { AdminApi } from './api.js';
import { SessionName, Table, Tip } from './table.js';
import type { Failure, OpenTurn } from './wire.js';
import { ago, dateTime } from './words.js';

/** The running and queued turns, each with a button to cancel it. */
export function OpenTurnTable(props: {
  readonly api: AdminApi;
  readonly turns: readonly OpenTurn[];
  readonly onChange: () => void;
}): ReactNode {
  const { api, turns, onChange } = props;
  return (
    <Table
      title="Running and waiting"
      columns={['Session', 'State', 'App', 'Began', 'Attempt', 'Stop']}
      empty="Nothing runs."
    >
      {turns.map((turn) => (
        <tr key={turn.turn_id}>
          <td>
            <SessionName row={turn} />
          </td>
          <td>{turn.status}</td>
          <td>{turn.app}</td>
          <td>{ago(turn.created_at)}</td>
          <td>{turn.attempt}</td>
          <td>
            <ActButton
              label="Interrupt"
              danger
              act={async () => {
                await api.interrupt(turn.session_id);
                onChange();
              }}
            />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Recent failures, with the messages that users received and the reasons that providers gave. */
export function FailureTable({ failures }: { readonly failures: readonly Failure[] }): ReactNode {
  return (
    <Table
      title="Failed lately"
      columns={['When', 'Session', 'App', 'Rig', 'Shown to the user', 'Reason']}
      empty="Nothing has failed in the last 7 days."
    >
      {failures.map((failure) => (
        <tr key={failure.turn_id}>
          <td>
            <Tip title={dateTime(failure.at)}>{ago(failure.at)}</Tip>
          </td>
          <td>
            <FailedSession failure={failure} />
          </td>
          <td>{failure.app}</td>
          <td>{failure.rig ?? 'none'}</td>
          <td className="wide">
            {failure.error === null ? 'the session was deleted' : visibleLine(failure.error)}
          </td>
          <td className="wide">{visibleLine(failure.reason ?? '')}</td>
        </tr>
      ))}
    </Table>
  );
}

function FailedSession({ failure: { session, session_id } }: { readonly failure: Failure }): ReactNode {
  return session === null || session_id === null ? 'deleted' : <SessionName row={{ session, session_id }} />;
}
