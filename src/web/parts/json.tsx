import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.js';
import { visibleJson } from './visible-json.js';

/** Shows a value as JSON with visible characters, and a button to copy it. */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }): ReactNode {
  const text = visibleJson(value);
  return (
    <div className="json">
      <CopyButton text={text} label={`Copy ${label}`} />
      <pre tabIndex={0}>{text}</pre>
    </div>
  );
}
