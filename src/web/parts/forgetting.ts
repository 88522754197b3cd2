import { closeStorage, readStored, store, storedNames } from './storage.js';

/**
 * Stored values that all tabs of a browser forget together. `mark` is the key in `localStorage` of the time at which
 * they were last forgotten: a tab that was suspended or showed another page at that time reads it later.
 */
export interface Forgettable {
  readonly mark: string;
  /** The prefix of the values' keys. */
  readonly prefix: string;
}

/** All values that the pages store. */
export const EVERYTHING: Forgettable = { mark: 'diptych.forgotten', prefix: 'diptych.' };

/**
 * For how long after forgetting another tab also removes the values in `localStorage`, in milliseconds: a tab may have
 * stored them again. A suspended tab notices later, when the values may be new.
 */
const RECENT_MS = 10_000;

/** Forgets values in all tabs, and reloads the page. */
export function forget(what: Forgettable): void {
  const now = String(Date.now());
  remove('browser', what);
  store('browser', what.mark, now);
  startOver(what, now);
}

/**
 * Removes the values of this tab if they were forgotten before the page was loaded, and reloads the page when another
 * tab forgets them. Call it before any stored value is read.
 */
export function followForgetting(what: Forgettable): void {
  const { mark } = what;
  const known = readStored('browser', mark);
  if (known !== null && known !== readStored('tab', mark)) forgetInTab(what, known);
  const check = (): void => {
    const last = readStored('browser', mark);
    if (last === null || last === known) return;
    if (Math.abs(Date.now() - Number(last)) < RECENT_MS) remove('browser', what);
    startOver(what, last);
  };
  addEventListener('storage', ({ key }) => {
    if (key === mark) check();
  });
  // A page in the back-forward cache receives no `storage` events.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) check();
  });
}

function startOver(what: Forgettable, mark: string): void {
  forgetInTab(what, mark);
  // Code that still runs in this page must not store values again.
  closeStorage();
  document.documentElement.hidden = true;
  // The new URL has no fragment: one that differs only in its fragment would not reload the page.
  location.replace(location.pathname + location.search);
}

function forgetInTab(what: Forgettable, mark: string): void {
  remove('tab', what);
  store('tab', what.mark, mark);
}

/** Removes the values, except for the mark. */
function remove(place: 'tab' | 'browser', { mark, prefix }: Forgettable): void {
  for (const name of storedNames(place, prefix)) if (name !== mark) store(place, name, '');
}
