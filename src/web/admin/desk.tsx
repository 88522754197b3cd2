import { useEffect, useRef, useState, type ReactNode } from 'react';
import { ThemeToggle } from '../parts/theme.js';
import type { AdminApi } from './api.js';
import { Keys } from './keys.js';
import { Legacy } from './legacy.js';
import { OverviewPane } from './overview.js';
import { Sessions } from './sessions.js';
import { Uses } from './uses.js';
import type { NewKey } from './wire.js';

const PANES = {
  overview: 'Overview',
  sessions: 'Sessions',
  keys: 'App keys',
  use: 'Use',
  legacy: 'Legacy API',
};
type PaneName = keyof typeof PANES;
const NAMES = Object.keys(PANES).filter(isPane);

/** The admin page: one pane at a time, named in the URL. */
export function Desk({
  api,
  takesFocus,
  onLeave,
}: {
  readonly api: AdminApi;
  /** True when the page replaces the form of the token, whose focus would be lost. */
  readonly takesFocus: boolean;
  readonly onLeave: () => void;
}): ReactNode {
  const pane = usePane();
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    if (takesFocus) main.current?.focus();
  }, [takesFocus]);
  const [made, setMade] = useState<NewKey>();
  return (
    <div className="admin">
      <header className="admin-head">
        <h1>Diptych</h1>
        <nav aria-label="Panes">
          {NAMES.map((name) => (
            <a key={name} href={`#${name}`} aria-current={name === pane ? 'page' : undefined}>
              {PANES[name]}
            </a>
          ))}
        </nav>
        <div className="admin-tools">
          <ThemeToggle />
          <button type="button" className="button small" onClick={onLeave}>
            Leave
          </button>
        </div>
      </header>
      <main ref={main} className="admin-main" tabIndex={-1} aria-label={PANES[pane]}>
        {pane === 'overview' && <OverviewPane api={api} />}
        {pane === 'sessions' && <Sessions api={api} />}
        {pane === 'keys' && <Keys api={api} made={made} onMade={setMade} />}
        {pane === 'use' && <Uses api={api} />}
        {pane === 'legacy' && <Legacy api={api} />}
      </main>
    </div>
  );
}

function usePane(): PaneName {
  const [pane, setPane] = useState(paneInUrl);
  useEffect(() => {
    const follow = (): void => {
      setPane(paneInUrl());
    };
    addEventListener('hashchange', follow);
    return () => {
      removeEventListener('hashchange', follow);
    };
  }, []);
  return pane;
}

function paneInUrl(): PaneName {
  const name = location.hash.slice(1);
  return isPane(name) ? name : 'overview';
}

function isPane(name: string): name is PaneName {
  return Object.hasOwn(PANES, name);
}
