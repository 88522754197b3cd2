import { useEffect, useRef, type RefObject } from 'react';

/**
 * Gives the focus back to a button whose place something else had taken, such as a question, when that is closed.
 * @param isReplaced true while something else is in the place of the button
 * @returns the ref of the button
 */
export function useReturningFocus(isReplaced: boolean): RefObject<HTMLButtonElement | null> {
  const button = useRef<HTMLButtonElement>(null);
  const wasReplaced = useRef(false);
  useEffect(() => {
    // What had the focus has vanished, unless somebody has moved the focus since.
    if (wasReplaced.current && !isReplaced && document.activeElement === document.body)
      button.current?.focus();
    wasReplaced.current = isReplaced;
  }, [isReplaced]);
  return button;
}
