/** `tab`: until the tab is closed. `browser`: for all tabs and later visits. */
type Place = 'tab' | 'browser';

/** Maximum length of a stored value that is read, in characters: another page of this origin may have written it. */
export const MAX_STORED = 100_000;

/** Returns a stored value; null: none, or the browser denies the storage. */
export function readStored(place: Place, name: string): string | null {
  const text = withStorage(place, (storage) => storage.getItem(name)) ?? null;
  return text === null || text.length > MAX_STORED ? null : text;
}

/** Parses a stored value as JSON. Undefined: none, or it is not JSON. */
export function readStoredJson(place: Place, name: string): unknown {
  try {
    return JSON.parse(readStored(place, name) ?? '');
  } catch {
    return undefined;
  }
}

/**
 * Stores a value; the empty text removes it.
 * @returns false if the storage is full, or if the browser denies it
 */
export function store(place: Place, name: string, value: string): boolean {
  const isStored = withStorage(place, (storage) => {
    if (value === '') storage.removeItem(name);
    else storage.setItem(name, value);
    return true;
  });
  return isStored ?? false;
}

/** True if the browser denies a storage, for example because it blocks the cookies of this site. */
export function isDenied(place: Place): boolean {
  return withStorage(place, (storage) => storage.length) === undefined;
}

/** Returns the names of stored values that begin with a prefix. */
export function storedNames(place: Place, prefix: string): readonly string[] {
  const names = withStorage(place, (storage) => Object.keys(storage)) ?? [];
  return names.filter((name) => name.startsWith(prefix));
}

let isClosed = false;

/** Turns all later reads and writes into no-ops. */
export function closeStorage(): void {
  isClosed = true;
}

/** Browsers that deny the storage throw, some already when the property is read. */
function withStorage<T>(place: Place, use: (storage: Storage) => T): T | undefined {
  if (isClosed) return undefined;
  try {
    return use(place === 'tab' ? sessionStorage : localStorage);
  } catch {
    return undefined;
  }
}
