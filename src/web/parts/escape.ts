import type { KeyboardEvent } from 'react';

/** Cancels on Esc, without also interrupting a reply. */
export function cancelOnEscape(cancel: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== 'Escape' || event.nativeEvent.isComposing) return;
    event.preventDefault();
    cancel();
  };
}
