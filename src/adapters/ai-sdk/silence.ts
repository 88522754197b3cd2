/** Waits for the other side to fall silent. */
export interface Silence {
  /** Something was heard. Called for each token: it notes the time and touches no timer, whose place in Node's lists costs ten times that. */
  readonly heard: () => void;
  /** It is over: nobody is called any more. */
  readonly stop: () => void;
}

/**
 * Calls once when nothing was heard for so long.
 * @param isExcused silence that is not the other side's doing: the time begins anew
 */
export function watchSilence(milliseconds: number, isExcused: () => boolean, onSilent: () => void): Silence {
  let since = performance.now();
  let isOver = false;
  let timer = setTimeout(check, milliseconds);

  function check(): void {
    // A process that was held up finds bytes waiting: let them in before the other side is called silent.
    setImmediate(() => {
      if (isOver) return;
      const now = performance.now();
      if (isExcused()) since = now;
      const left = since + milliseconds - now;
      if (left <= 0) onSilent();
      else timer = setTimeout(check, left);
    });
  }

  return {
    heard() {
      since = performance.now();
    },
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
