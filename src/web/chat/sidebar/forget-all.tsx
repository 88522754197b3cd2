import { useId, useState, type ReactNode } from 'react';
import { useObservable } from '../../parts/observable.js';
import { cancelOnEscape } from '../../parts/escape.js';
import { useReturningFocus } from '../../parts/focus.js';
import { EVERYTHING, forget } from '../../parts/forgetting.js';
import type { Records } from '../wallet/records.js';

/** Removes everything that the page keeps in this browser; the threads stay on the service. */
export function ForgetAll({ records }: { readonly records: Records }): ReactNode {
  const [isAsking, setIsAsking] = useState(false);
  const question = useId();
  const warning = useId();
  const button = useReturningFocus(isAsking);
  const kept = useObservable(records);
  const unreported = [...kept.values()].filter(({ reportedAt }) => reportedAt === null).length;
  if (!isAsking) {
    return (
      <button
        ref={button}
        type="button"
        className="link-button"
        onClick={() => {
          setIsAsking(true);
        }}
      >
        Forget all on this device
      </button>
    );
  }
  return (
    <div
      className="thread-item removing"
      onKeyDown={cancelOnEscape(() => {
        setIsAsking(false);
      })}
    >
      <span id={question}>
        Forget everything on this device: the list of threads, drafts, the wallet, the App key, the access to
        stored secrets, and the settings? The threads stay on the service, and only their links open them.
      </span>
      {unreported > 0 && (
        <span id={warning} className="warning">
          The service does not know yet what came of {unreported === 1 ? 'a request' : 'some requests'} to
          your wallet. It will not learn that.
        </span>
      )}
      <button
        type="button"
        className="button danger small"
        aria-describedby={`${question} ${warning}`}
        onClick={() => {
          forget(EVERYTHING);
        }}
      >
        Forget all
      </button>
      <button
        type="button"
        className="button small"
        aria-describedby={`${question} ${warning}`}
        autoFocus
        onClick={() => {
          setIsAsking(false);
        }}
      >
        Keep
      </button>
    </div>
  );
}
