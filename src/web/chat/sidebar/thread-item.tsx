import { useState, type KeyboardEvent, type ReactNode, type SyntheticEvent } from 'react';
import type { ThreadSummary } from '../../../client/types.js';
import { Icon } from '../../parts/icon.js';

/** A thread in the list. Its title opens it; it is renamed and deleted in place. */
export function ThreadItem(props: {
  readonly thread: ThreadSummary;
  readonly isOpen: boolean;
  readonly canChange: boolean;
  readonly onOpen: () => void;
  readonly onRename: (title: string) => Promise<void>;
  readonly onDelete: () => Promise<void>;
}): ReactNode {
  const { thread, isOpen, canChange, onOpen, onRename, onDelete } = props;
  const [mode, setMode] = useState<'shown' | 'renaming' | 'deleting'>('shown');
  const back = (): void => {
    setMode('shown');
  };
  if (mode === 'renaming') {
    return (
      <Renaming title={thread.title} onCancel={back} onRename={(title) => onRename(title).finally(back)} />
    );
  }
  if (mode === 'deleting') {
    return (
      <li className="thread-item deleting" onKeyDown={cancelOn(back)}>
        <span>Delete “{thread.title}”?</span>
        <button
          type="button"
          className="button danger small"
          autoFocus
          onClick={() => void onDelete().finally(back)}
        >
          Delete
        </button>
        <button type="button" className="button small" onClick={back}>
          Keep
        </button>
      </li>
    );
  }
  return (
    <li className="thread-item">
      <button
        type="button"
        className="thread-title"
        aria-current={isOpen ? 'page' : undefined}
        onClick={onOpen}
      >
        {thread.title}
      </button>
      {canChange && (
        <span className="thread-actions">
          <button
            type="button"
            className="icon-button small"
            aria-label={`Rename ${thread.title}`}
            title="Rename"
            onClick={() => {
              setMode('renaming');
            }}
          >
            <Icon name="rename" />
          </button>
          <button
            type="button"
            className="icon-button small"
            aria-label={`Delete ${thread.title}`}
            title="Delete"
            onClick={() => {
              setMode('deleting');
            }}
          >
            <Icon name="remove" />
          </button>
        </span>
      )}
    </li>
  );
}

function Renaming(props: {
  readonly title: string;
  readonly onRename: (title: string) => Promise<void>;
  readonly onCancel: () => void;
}): ReactNode {
  const { onRename, onCancel } = props;
  const [title, setTitle] = useState(props.title);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (title.trim() === '') onCancel();
    else void onRename(title.trim());
  };
  return (
    <li className="thread-item">
      <form onSubmit={submit} onKeyDown={cancelOn(onCancel)}>
        <input
          aria-label="New title"
          value={title}
          maxLength={200}
          autoFocus
          onChange={(event) => {
            setTitle(event.target.value);
          }}
        />
        <button type="submit" className="icon-button small" aria-label="Save the title">
          <Icon name="done" />
        </button>
      </form>
    </li>
  );
}

/** Cancels on Esc, without also interrupting a reply. */
function cancelOn(cancel: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    cancel();
  };
}
