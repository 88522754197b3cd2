import type { ReactNode } from 'react';
import { Icon } from '../../parts/icon.js';
import { focusInput } from './composer.js';

/** The last error, and notices of the service. */
export function Problems(props: {
  readonly problem: string | null;
  readonly notices: readonly string[];
  readonly onDismiss: () => void;
}): ReactNode {
  const { problem, notices, onDismiss } = props;
  if (problem === null && notices.length === 0) return null;
  return (
    <div className="problems">
      <div role="alert">
        {problem !== null && <p className="problem">{problem}</p>}
        {notices.map((notice, index) => (
          <p key={index}>{notice}</p>
        ))}
      </div>
      <button
        type="button"
        className="icon-button small"
        aria-label="Dismiss"
        onClick={(event) => {
          onDismiss();
          focusInput(event);
        }}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
