import { useEffect, useRef, type RefObject } from 'react';

/**
 * Returns the focus to a button when the element that replaced it, such as a confirmation, is closed.
 * @param isReplaced true while another element replaces the button
 * @returns the ref of the button
 */
export function useReturningFocus(isReplaced: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  const wasReplaced = useRef(false);
  useEffect(() => {
    // The body is active if the focused element was removed and the user has not moved the focus since.
    if (wasReplaced.current && !isReplaced && document.activeElement === document.body)
      button.current?.focus();
    wasReplaced.current = isReplaced;
  }, [isReplaced]);
  return button;
}
