import { useLayoutEffect, useRef, type ReactNode } from 'react';
import { useAction } from './action.js';

/**
 * A button that runs an action and shows its error. With `confirm`, it asks for confirmation first. When the action
 * removes the focused button, the focus moves to the section around it.
 */
export function ActButton({
  label,
  confirm,
  danger = false,
  act,
}: {
  readonly label: string;
  readonly confirm?: string;
  readonly danger?: boolean;
  readonly act: () => Promise<void>;
}): ReactNode {
  const { isBusy, problem, run } = useAction();
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const element = button.current;
    return () => {
      if (element !== document.activeElement) return;
      element?.closest<HTMLElement>('[tabindex="-1"]')?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={`button small${danger ? ' danger' : ''}`}
        // Not `disabled`, which would remove the focus.
        aria-disabled={isBusy}
        onClick={() => {
          if (isBusy) return;
          if (confirm === undefined || window.confirm(confirm)) void run(act);
        }}
      >
        {label}
      </button>
      <span role="alert">{problem !== undefined && <span className="problem">{problem}</span>}</span>
    </>
  );
}
