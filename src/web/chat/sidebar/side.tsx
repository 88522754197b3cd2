import { useEffect, useRef, type ReactNode } from 'react';
import { Icon } from '../../parts/icon.js';

/** A panel beside the conversation; on narrow screens, a drawer over it. */
export function Side(props: {
  readonly name: string;
  readonly label: string;
  readonly isOver: boolean;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const { name, label, isOver, isOpen, onClose, children } = props;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isOver && isOpen) button.current?.focus();
  }, [isOver, isOpen]);
  if (!isOpen) return null;
  return (
    <>
      {isOver && <div className="veil" onClick={onClose} />}
      <aside
        className={isOver ? `side ${name} over` : `side ${name}`}
        aria-label={label}
        onKeyDown={(event) => {
          if (!isOver || event.key !== 'Escape' || event.defaultPrevented) return;
          // Closes the drawer without also interrupting a reply.
          event.preventDefault();
          onClose();
        }}
      >
        {isOver && (
          <button
            ref={button}
            type="button"
            className="icon-button close"
            aria-label="Close"
            onClick={onClose}
          >
            <Icon name="close" />
          </button>
        )}
        {children}
      </aside>
    </>
  );
}
