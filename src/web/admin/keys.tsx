import { useCallback, type ReactNode } from 'react';
import { quoted } from '../../client/visible-text.js';
import { CopyButton } from '../parts/copy-button.js';
import { ActButton } from './act.js';
import type { AdminApi } from './api.js';
import { KeyForm } from './key-form.js';
import { usePolled } from './polled.js';
import { PollProblem } from './problem.js';
import { ShortId, Table } from './table.js';
import type { NewKey } from './wire.js';
import { dateTime } from './words.js';

const EVERY_MS = 30_000;

/**
 * Creates, lists and revokes App keys. A new key is shown once.
 * @param made the last key that was created here, also if it arrived while another pane was shown
 */
export function Keys({
  api,
  made,
  onMade,
}: {
  readonly api: AdminApi;
  readonly made: NewKey | undefined;
  readonly onMade: (key: NewKey) => void;
}): ReactNode {
  const readKeys = useCallback(() => api.keys(), [api]);
  // The App `default` needs no key.
  const readApps = useCallback(
    async () => (await api.overview('hour')).apps.filter((app) => app !== 'default'),
    [api],
  );
  const keys = usePolled(readKeys, EVERY_MS);
  const apps = usePolled(readApps, EVERY_MS);
  return (
    <>
      <PollProblem of={keys.error === undefined ? apps : keys} />
      {apps.value?.length === 0 && (
        <p className="hint">
          The one App is default, which needs no key. Others come from the configuration file.
        </p>
      )}
      {apps.value !== undefined && apps.value.length > 0 && (
        <KeyForm
          apps={apps.value}
          create={async (asked) => {
            onMade(await api.createKey(asked));
            keys.refresh();
          }}
        />
      )}
      <div role="status">
        {made !== undefined && (
          <div className="made">
            <p>This key is shown this once. Keep it now.</p>
            <code>{made.key}</code>
            <CopyButton text={made.key} label="Copy the key" />
          </div>
        )}
      </div>
      {keys.value !== undefined && (
        <Table
          title="App keys"
          columns={['Key', 'Label', 'Apps', 'State', 'Made', 'Expires', 'Revoke']}
          empty="There are no keys."
        >
          {keys.value.keys.map((key) => (
            <tr key={key.id}>
              <td>
                <ShortId id={key.id} />
              </td>
              <td>{key.label === '' ? '–' : key.label}</td>
              <td>{key.apps.join(', ')}</td>
              <td>{key.status}</td>
              <td>{dateTime(key.created_at)}</td>
              <td>{key.expires_at === null ? 'never' : dateTime(key.expires_at)}</td>
              <td>
                {key.status === 'active' && (
                  <ActButton
                    label="Revoke"
                    danger
                    confirm={`Revoke the key ${quoted(key.label)} (${key.id})? Requests with it are refused within 5 seconds.`}
                    act={async () => {
                      await api.revokeKey(key.id);
                      keys.refresh();
                    }}
                  />
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}
