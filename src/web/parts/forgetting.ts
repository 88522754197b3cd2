import { closeStorage, readStored, store, storedNames } from './storage.js';

/**
 * What all tabs of a browser forget at the same time. Its `mark` in `localStorage` is the time of the last forgetting:
 * a tab that was suspended then, or showed another page, finds out by it.
 */
export interface Forgettable {
  readonly mark: string;
  /** The prefix of the names of what is stored. */
  readonly prefix: string;
}

/** Everything that the pages have stored. */
export const EVERYTHING: Forgettable = { mark: 'diptych.forgotten', prefix: 'diptych.' };

/**
 * How long after forgetting a tab also removes what the browser stores, in milliseconds: another tab may have stored it
 * again. A tab that was suspended notices later, when what is stored may be new.
 */
const RECENT_MS = 10_000;

/** Forgets in all tabs, and loads the page again. */
export function forget(what: Forgettable): void {
  const now = String(Date.now());
  remove('browser', what);
  store('browser', what.mark, now);
  startOver(what, now);
}

/**
 * Removes what this tab still stores although it was forgotten, and starts over when another tab forgets. Call it
 * before anything stored is read.
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
  // Restored from the back-forward cache, in which no events arrive.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) check();
  });
}

function startOver(what: Forgettable, mark: string): void {
  forgetInTab(what, mark);
  // What is still running here must not store anything again.
  closeStorage();
  document.documentElement.hidden = true;
  // Loads the page even though only the fragment differs, because the new URL has none.
  location.replace(location.pathname + location.search);
}

function forgetInTab(what: Forgettable, mark: string): void {
  remove('tab', what);
  store('tab', what.mark, mark);
}

/** Removes what is stored, except for the mark. */
function remove(place: 'tab' | 'browser', { mark, prefix }: Forgettable): void {
  for (const name of storedNames(place, prefix)) if (name !== mark) store(place, name, '');
}
