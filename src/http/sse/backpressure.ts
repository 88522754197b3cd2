import type { ServerResponse } from 'node:http';

/** True while the client has to read buffered data before more may be written. */
export function isFull({ writableNeedDrain, socket }: ServerResponse): boolean {
  return writableNeedDrain || socket?.writableNeedDrain === true;
}

/** Resolves when the write buffer has drained, or when the caller calls the `resolve` that `onStart` received. */
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
