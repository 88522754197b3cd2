import { useState, type ReactNode } from 'react';
import { Icon } from './icon.js';

/** Copies a text, and says that it did. */
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

/** Where the page was not opened over TLS there is no clipboard. */
async function copy(text: string): Promise<void> {
  const { clipboard }: { clipboard?: Clipboard } = navigator;
  if (clipboard === undefined) throw new Error('There is no clipboard');
  await clipboard.writeText(text);
}
