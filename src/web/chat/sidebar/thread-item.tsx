import { useId, useState, type ReactNode, type SyntheticEvent } from 'react';
import { cancelOnEscape } from '../../parts/escape.js';
import { useReturningFocus } from '../../parts/focus.js';
import { Icon } from '../../parts/icon.js';
import type { ListedThread } from '../threads/groups.js';
import { Quoted } from './quoted.js';

/** A thread in the list. Its title opens it; it is renamed, deleted and forgotten in place. */
export function ThreadItem(props: {
  readonly thread: ListedThread;
  readonly isOpen: boolean;
  /** Whether an exposed surface can rename and delete threads. */
  readonly canChange: boolean;
  /** Whether this browser keeps the thread. */
  readonly isKept: boolean;
  readonly onOpen: () => void;
  readonly onRename: (title: string) => Promise<void>;
  readonly onDelete: () => Promise<void>;
  readonly onForget: () => void;
}): ReactNode {
  const { thread, isOpen, canChange, isKept, onOpen, onRename, onDelete, onForget } = props;
  const [mode, setMode] = useState<'shown' | 'renaming' | 'removing'>('shown');
  const question = useId();
  const renameButton = useReturningFocus(mode === 'renaming');
  const removeButton = useReturningFocus(mode === 'removing');
  const back = (): void => {
    setMode('shown');
  };
  if (mode === 'renaming') {
    return (
      <Renaming title={thread.title} onCancel={back} onRename={(title) => onRename(title).finally(back)} />
    );
  }
  if (mode === 'removing') {
    return (
      <li className="thread-item removing" onKeyDown={cancelOnEscape(back)}>
        <span id={question}>
          {canChange ? 'Delete' : 'Forget'} <Quoted title={thread.title} />?
        </span>
        {canChange && (
          <button
            type="button"
            className="button danger small"
            title="Deletes the thread on the service, for everyone"
            onClick={() => void onDelete().finally(back)}
          >
            Delete
          </button>
        )}
        {isKept && (
          <button
            type="button"
            className="button small"
            title="Removes the thread from the list of this browser only"
            onClick={onForget}
          >
            Forget on this device
          </button>
        )}
        <button type="button" className="button small" aria-describedby={question} autoFocus onClick={back}>
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
        dir="auto"
        aria-current={isOpen ? 'page' : undefined}
        title={thread.title}
        onClick={onOpen}
      >
        {thread.title}
      </button>
      <span className="thread-actions">
        {canChange && (
          <button
            ref={renameButton}
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
        )}
        {(canChange || isKept) && (
          <button
            ref={removeButton}
            type="button"
            className="icon-button small"
            aria-label={`${canChange ? 'Delete' : 'Forget'} ${thread.title}`}
            title={canChange ? 'Delete' : 'Forget'}
            onClick={() => {
              setMode('removing');
            }}
          >
            <Icon name="remove" />
          </button>
        )}
      </span>
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
      <form onSubmit={submit} onKeyDown={cancelOnEscape(onCancel)}>
        <input
          aria-label="New title"
          dir="auto"
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
