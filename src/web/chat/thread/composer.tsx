import { ComposerPrimitive } from '@assistant-ui/react';
import type { MouseEvent, ReactNode } from 'react';
import { Icon } from '../../parts/icon.js';

/** The id of the message input. */
const INPUT = 'message';

/**
 * Moves the focus to the message input, for a button that disappears when it is clicked. Does nothing on touch, where
 * the focus would open the keyboard.
 */
export function focusInput({ nativeEvent }: MouseEvent): void {
  if ('pointerType' in nativeEvent && nativeEvent.pointerType === 'touch') return;
  document.getElementById(INPUT)?.focus();
}

/** The message input. Enter sends, even while a reply is running; Esc interrupts. */
export function Composer(props: { readonly isBusy: boolean; readonly onInterrupt: () => void }): ReactNode {
  const { isBusy, onInterrupt } = props;
  return (
    <ComposerPrimitive.Root className="composer">
      <div className="composer-box">
        <ComposerPrimitive.Input
          id={INPUT}
          className="composer-input"
          aria-label="Message"
          dir="auto"
          placeholder={isBusy ? 'Write the next message: it waits its turn' : 'Ask something'}
          rows={1}
          maxRows={10}
          autoFocus
          cancelOnEscape={false}
          unstable_focusOnRunStart={false}
          addAttachmentOnPaste={false}
        />
        <div className="composer-actions">
          <p className="hint" aria-hidden="true">
            <kbd>Enter</kbd> sends · <kbd>Shift</kbd>+<kbd>Enter</kbd> new line · <kbd>Esc</kbd> interrupts
          </p>
          {isBusy && (
            <button
              type="button"
              className="button stop"
              onClick={(event) => {
                onInterrupt();
                focusInput(event);
              }}
            >
              <Icon name="stop" />
              Interrupt
            </button>
          )}
          <ComposerPrimitive.Send className="button primary">
            <Icon name="send" />
            {isBusy ? 'Queue' : 'Send'}
          </ComposerPrimitive.Send>
        </div>
      </div>
    </ComposerPrimitive.Root>
  );
}
