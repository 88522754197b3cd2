import { useState, type ReactNode } from 'react';
import { Icon } from './icon.js';

/** Copies a text and shows the result. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready');
  const said = { ready: label, copied: 'Copied', failed: 'Could not copy' }[state];
  return (
    <button
      type="button"
      className="icon-button small"
      aria-label={said}
      title={said}
      onBlur={() => {
        setState('ready');
      }}
      onClick={() => {
        copy(text).then(
          () => {
            setState('copied');
          },
          () => {
            setState('failed');
          },
        );
      }}
    >
      <Icon name={state === 'copied' ? 'done' : 'copy'} />
    </button>
  );
}

/** Pages without TLS have no clipboard. */
async function copy(text: string): Promise<void> {
  if (!isSecureContext) throw new Error('There is no clipboard');
  await navigator.clipboard.writeText(text);
}
