import { useId, useRef, useState, type ReactNode } from 'react';
import { CopyButton } from '../../parts/copy-button.js';
import { Icon } from '../../parts/icon.js';

/** Shows the link to the thread, and what it gives away. */
export function Share(): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [link, setLink] = useState('');
  const id = useId();
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label="Share"
        title="Share"
        onClick={() => {
          setLink(location.href);
          dialog.current?.showModal();
        }}
      >
        <Icon name="share" />
      </button>
      <dialog
        ref={dialog}
        className="dialog"
        aria-labelledby={id}
        onKeyDown={(event) => {
          // Esc closes the dialog without also interrupting a reply.
          event.stopPropagation();
        }}
        onClick={(event) => {
          if (event.target === event.currentTarget) event.currentTarget.close();
        }}
      >
        <div className="dialog-body">
          <h2 id={id}>Share this thread</h2>
          <p>
            Everyone who has this link reads along and can write in the thread. The link is its only
            protection: to withdraw it, delete the thread.
          </p>
          <div className="link-line">
            <input readOnly aria-label="Link to the thread" value={link} />
            <CopyButton text={link} label="Copy the link" />
          </div>
          <button
            type="button"
            className="button"
            onClick={() => {
              dialog.current?.close();
            }}
          >
            Close
          </button>
        </div>
      </dialog>
    </>
  );
}
