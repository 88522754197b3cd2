import { useRef, type ReactNode } from 'react';
import { Icon } from '../../parts/icon.js';
import type { Conversation } from '../conversation/conversation.js';
import { exportJson, exportMarkdown, type Exported } from './export.js';

/** Saves the thread as a file. */
export function ExportMenu({ conversation }: { readonly conversation: Conversation }): ReactNode {
  const menu = useRef<HTMLDetailsElement>(null);
  const save = (exported: () => Exported) => () => {
    download(exported());
    menu.current?.removeAttribute('open');
    menu.current?.querySelector('summary')?.focus();
  };
  return (
    <details
      ref={menu}
      className="export"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || menu.current?.open !== true) return;
        event.preventDefault();
        menu.current.removeAttribute('open');
        menu.current.querySelector('summary')?.focus();
      }}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) menu.current?.removeAttribute('open');
      }}
    >
      <summary className="icon-button" aria-label="Export thread" title="Export thread">
        <Icon name="save" />
      </summary>
      <div className="export-choices">
        <button
          type="button"
          className="button small"
          onClick={save(() => exportMarkdown(conversation.view.get()))}
        >
          Markdown
        </button>
        <button
          type="button"
          className="button small"
          onClick={save(() => exportJson(conversation.view.get(), conversation.client.sessionId))}
        >
          JSON
        </button>
      </div>
    </details>
  );
}

function download({ name, type, text }: Exported): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
