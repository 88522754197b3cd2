import { useRef, useState } from 'react';

/** An action that a button or form runs. */
export interface Action {
  readonly isBusy: boolean;
  /** Why the last run failed, for the operator. */
  readonly problem: string | undefined;
  /** Runs the action. Does nothing while another run has not ended. */
  readonly run: (act: () => Promise<void>) => Promise<void>;
}

/** Returns the state of an action that runs once at a time: a double click does not run it twice. */
export function useAction(): Action {
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const running = useRef(false);
  const run = async (act: () => Promise<void>): Promise<void> => {
    if (running.current) return;
    running.current = true;
    setIsBusy(true);
    setProblem(undefined);
    try {
      await act();
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      running.current = false;
      setIsBusy(false);
    }
  };
  return { isBusy, problem, run };
}

/** Returns what to show of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
