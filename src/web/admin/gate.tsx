import { useMemo, useState, type ReactNode } from 'react';
import { AdminApi, AdminError } from './api.js';
import { Desk } from './desk.js';
import { forget, type Forgettable } from '../parts/forgetting.js';
import { readStored, store } from '../parts/storage.js';

/** The name in `sessionStorage`, which keeps the token for this tab only. */
const STORED = 'diptych.admin-token';

/** The token, which is forgotten in all tabs of the browser when the user leaves the view in one of them. */
export const TOKEN: Forgettable = { mark: 'diptych.admin-left', prefix: 'diptych.admin' };

/** Asks for the token, and then shows the admin page. */
export function Gate(): ReactNode {
  const [token, setToken] = useState(() => readStored('tab', STORED));
  const api = useMemo(() => (token === null ? null : new AdminApi(token)), [token]);
  if (api !== null) {
    return (
      <Desk
        api={api}
        onLeave={() => {
          forget(TOKEN);
        }}
      />
    );
  }
  return (
    <SignIn
      onToken={(given) => {
        store('tab', STORED, given);
        setToken(given);
      }}
    />
  );
}

function SignIn({ onToken }: { readonly onToken: (token: string) => void }): ReactNode {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<string>();
  const enter = async (): Promise<void> => {
    try {
      await new AdminApi(token).overview('hour');
      onToken(token);
    } catch (error) {
      const isWrong = error instanceof AdminError && error.status === 401;
      setProblem(isWrong ? 'This is not the ADMIN_TOKEN of the service.' : String(error));
    }
  };
  return (
    <main className="gate">
      <h1>Diptych: operator</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void enter();
        }}
      >
        {/* For password managers. */}
        <input type="text" autoComplete="username" value="operator" readOnly hidden />
        <div className="field">
          <label htmlFor="token">Admin token</label>
          <input
            id="token"
            type="password"
            autoComplete="current-password"
            required
            value={token}
            aria-describedby="token-hint"
            onChange={(event) => {
              setToken(event.target.value);
            }}
          />
        </div>
        <p id="token-hint" className="hint">
          The value of <code>ADMIN_TOKEN</code>. It is kept in this tab alone. Leaving one tab logs out all
          tabs of this browser.
        </p>
        <div role="alert">{problem !== undefined && <p className="problem">{problem}</p>}</div>
        <button type="submit" className="button primary wide">
          Enter
        </button>
      </form>
    </main>
  );
}
