import { Observable } from '../../parts/observable.js';

/**
 * Runs a task that only one tab may run at a time.
 * @throws Error in words for the user if another tab runs it
 */
export async function withLock<T>(name: string, task: () => Promise<T>): Promise<T> {
  const locks = lockManager();
  if (locks === undefined) return task();
  let isDecided = false;
  const ran = locks.request(name, { ifAvailable: true }, (lock) => {
    isDecided = true;
    if (lock === null) throw new Error('Another tab of this page is asking the wallet for this request.');
    return task();
  });
  return ran.catch((error: unknown) => {
    // A browser that blocks the cookies of this site denies the locks.
    if (isDecided) throw error;
    return task();
  });
}

/** Knows which locks other tabs hold. */
export class LockWatch extends Observable<ReadonlySet<string>> {
  readonly #watched = new Set<string>();

  constructor() {
    super(new Set());
  }

  /** Watches locks until no other tab holds them. */
  watch(names: readonly string[]): void {
    for (const name of names) {
      if (this.#watched.has(name)) continue;
      this.#watched.add(name);
      // Where the browser denies the locks, no other tab has one.
      void this.#follow(name)
        .catch(() => undefined)
        .finally(() => this.#watched.delete(name));
    }
  }

  async #follow(name: string): Promise<void> {
    const locks = lockManager();
    if (locks === undefined) return;
    const isFree = await locks.request(name, { ifAvailable: true, mode: 'shared' }, (lock) =>
      Promise.resolve(lock !== null),
    );
    if (isFree) return;
    this.set(new Set(this.get()).add(name));
    // Waits until the other tab is done or closed.
    await locks.request(name, { mode: 'shared' }, () => Promise.resolve());
    this.set(new Set([...this.get()].filter((other) => other !== name)));
  }
}

/** Pages without TLS have no locks; the kept requests still say that a wallet was asked. */
function lockManager(): LockManager | undefined {
  const scope: { locks?: LockManager } = navigator;
  return scope.locks;
}
