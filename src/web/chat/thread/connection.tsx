import type { ReactNode } from 'react';
import type { View } from '../../../client/view/view.js';

const WORDS = { connecting: 'Connecting', open: 'Connected', lost: 'Reconnecting' } as const;

/** The status of the connection. */
export function Connection({ state }: { readonly state: View['connection'] }): ReactNode {
  return (
    <p className="connection" data-state={state}>
      <i aria-hidden="true" />
      <span>{WORDS[state]}</span>
    </p>
  );
}
