import { useMemo, useState, type ReactNode } from 'react';
import { useAction } from './action.js';
import { AdminApi, AdminError } from './api.js';
import { Desk } from './desk.js';
import { Problem } from './problem.js';
import { forget, type Forgettable } from '../parts/forgetting.js';
import { readStored, store } from '../parts/storage.js';

/** The name in `sessionStorage`, which keeps the token for this tab only. */
const STORED = 'diptych.admin-token';

/** The token, which is forgotten in all tabs of the browser when the user leaves the view in one of them. */
export const TOKEN: Forgettable = { mark: 'diptych.admin-left', prefix: 'diptych.admin' };

const WRONG = 'This is not the ADMIN_TOKEN of the service.';
const CHANGED = 'The service no longer accepts this token: enter its present ADMIN_TOKEN.';

/** Asks for the token, and then shows the admin page. */
export function Gate(): ReactNode {
  const [token, setToken] = useState(() => readStored('tab', STORED));
  const [isRefused, setIsRefused] = useState(false);
  const [isEntered, setIsEntered] = useState(false);
  const api = useMemo(() => {
    if (token === null) return null;
    return new AdminApi(token, () => {
      store('tab', STORED, '');
      setToken(null);
      setIsRefused(true);
    });
  }, [token]);
  if (api !== null) {
    return (
      <Desk
        api={api}
        takesFocus={isEntered}
        onLeave={() => {
          forget(TOKEN);
        }}
      />
    );
  }
  return (
    <SignIn
      isRefused={isRefused}
      onToken={(given) => {
        store('tab', STORED, given);
        setIsEntered(true);
        setToken(given);
      }}
    />
  );
}

function SignIn(props: {
  /** True when the service no longer accepts the token of this tab. */
  readonly isRefused: boolean;
  readonly onToken: (token: string) => void;
}): ReactNode {
  const { isRefused, onToken } = props;
  const [token, setToken] = useState('');
  const { isBusy, problem, run } = useAction();
  const enter = async (): Promise<void> => {
    // Browsers cannot send other characters in a header, and the service takes no such token.
    if (!/^[\x21-\x7e]+$/.test(token)) throw new Error(WRONG);
    await new AdminApi(token).overview('hour').catch((error: unknown) => {
      throw error instanceof AdminError && error.status === 401 ? new Error(WRONG) : error;
    });
    onToken(token);
  };
  return (
    <main className="gate">
      <h1>Diptych: operator</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run(enter);
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
            autoFocus
            value={token}
            aria-describedby="token-hint"
            onChange={(event) => {
              setToken(event.target.value.trim());
            }}
          />
        </div>
        <p id="token-hint" className="hint">
          The value of <code>ADMIN_TOKEN</code>. It is kept in this tab alone. Leaving one tab logs out all
          tabs of this browser.
        </p>
        <Problem text={problem ?? (isRefused ? CHANGED : undefined)} />
        <button type="submit" className="button primary wide" aria-disabled={isBusy}>
          Enter
        </button>
      </form>
    </main>
  );
}
