import { useState, type ReactNode } from 'react';

/** A button that runs an action and shows its error. With `confirm`, it asks for confirmation first. */
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
  const [state, setState] = useState<'ready' | 'busy'>('ready');
  const [problem, setProblem] = useState<string>();
  const run = async (): Promise<void> => {
    setState('busy');
    setProblem(undefined);
    try {
      await act();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setState('ready');
    }
  };
  return (
    <>
      <button
        type="button"
        className={`button small${danger ? ' danger' : ''}`}
        // Not `disabled`, which would remove the focus.
        aria-disabled={state === 'busy'}
        onClick={() => {
          if (state === 'busy') return;
          if (confirm === undefined || window.confirm(confirm)) void run();
        }}
      >
        {label}
      </button>
      <span role="alert">{problem !== undefined && <span className="problem">{problem}</span>}</span>
    </>
  );
}
