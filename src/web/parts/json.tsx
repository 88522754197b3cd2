import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.js';

/** Shows a value as JSON, with a button to copy it. */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }): ReactNode {
  const text = JSON.stringify(value, null, 2);
  return (
    <div className="json">
      <CopyButton text={text} label={`Copy ${label}`} />
      <pre tabIndex={0}>{text}</pre>
    </div>
  );
}
