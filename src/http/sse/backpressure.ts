import type { ServerResponse } from 'node:http';

/** Whether the client has to take something before more is written. */
export function isFull({ writableNeedDrain, socket }: ServerResponse): boolean {
  return writableNeedDrain || socket?.writableNeedDrain === true;
}

/** Resolves when the client has taken what was written, or whoever got `resolve` by `onStart` has called it. */
export function untilDrained(res: ServerResponse, onStart: (resolve: () => void) => void): Promise<void> {
  const { socket } = res;
  return new Promise<void>((resolve) => {
    const done = (): void => {
      res.off('drain', done);
      socket?.off('drain', done);
      resolve();
    };
    res.on('drain', done);
    socket?.on('drain', done);
    onStart(done);
  });
}
