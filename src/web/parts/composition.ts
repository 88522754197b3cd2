/** Milliseconds after the end of a composition in which a key that is down can be the one that ended it. */
const ENDING_MS = 500;

/**
 * Hides the key that ends a composition, such as Enter that picks Japanese words, from the page in Safari. Safari
 * reports this key after the end of the composition, with `isComposing` false: it would send a message that is not
 * finished. Other browsers report it before the end.
 */
export function hideComposingKeys(page: Window): void {
  // Only Safari has gesture events.
  if (!('GestureEvent' in page)) return;
  let endedAt = -Infinity;
  page.addEventListener('compositionend', ({ timeStamp }) => (endedAt = timeStamp), true);
  page.addEventListener('keyup', () => (endedAt = -Infinity), true);
  page.addEventListener(
    'keydown',
    (event) => {
      if (event.timeStamp - endedAt < ENDING_MS) event.stopImmediatePropagation();
    },
    true,
  );
}
