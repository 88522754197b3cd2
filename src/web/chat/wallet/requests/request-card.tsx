import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import type { PendingRequest } from '../../../../client/pending.js';
import { Icon } from '../../../parts/icon.js';
import { useObservable } from '../../../parts/observable.js';
import type { ViewMessage } from '../../../../client/view/view.js';
import type { WalletUse } from '../../threads/kept-threads.js';
import { checksummed, isSameAddress } from '../address.js';
import { chainName } from '../chains.js';
import type { Connected } from '../connection.js';
import { isHash, needsOtherChain } from '../signing.js';
import { WalletChoice } from '../wallet-panel.js';
import type { Wallets } from '../wallets.js';
import { Quote } from './framed.js';
import type { Phase } from './phase.js';
import { RequestDetails, RequestFacts } from './request-facts.js';
import { simulationOf } from './simulation.js';
import { titleOf, warningsOf } from './summary.js';

/** After this time in milliseconds, the person may stop waiting for the wallet; a second click on a button comes before. */
const SLOW_MS = 20_000;

/** How the person's wallet is used in a thread. */
export interface ThreadWallet {
  readonly walletUse: WalletUse;
  /** Uses the wallet in this thread from now on. */
  readonly onUse: () => void;
}

/**
 * A request that waits for the wallet, with what it does and the person's decision. Unless the wallet is used in the
 * thread, the card only shows the request.
 */
export function RequestCard(props: {
  readonly request: PendingRequest;
  readonly sessionId: string;
  readonly phase: Phase;
  readonly problem: string | null;
  readonly isReporting: boolean;
  /** The id of the request that comes first; null: none. */
  readonly before: number | null;
  readonly messages: readonly ViewMessage[];
  readonly wallets: Wallets;
  readonly threadWallet: ThreadWallet;
}): ReactNode {
  const { request, sessionId, phase, problem, isReporting, before, messages, wallets, threadWallet } = props;
  const { id, label } = request;
  const { connected } = useObservable(wallets.connection);
  const simulation = request.kind === 'transaction' ? simulationOf(request, messages) : null;
  const title = titleOf(request, simulation?.amount ?? null);
  const asked = { sessionId, request, title };
  const card = useRef<HTMLElement>(null);
  const heading = useId();
  const keepFocus = useFocusOf(card, phase);
  const isSlow = useSlow(phase === 'asking');
  const { desk } = wallets;
  const isDue = phase === 'open' || phase === 'unclear';
  const isUsed = threadWallet.walletUse === 'own';
  const approve = (isRepeat: boolean) => () => {
    keepFocus();
    void desk.approve(asked, isRepeat);
  };
  const reject = (): void => {
    keepFocus();
    void desk.reject(asked);
  };

  return (
    <article ref={card} className="request" data-phase={phase} aria-labelledby={heading} tabIndex={-1}>
      <header>
        <Icon name="wallet" />
        <h3 id={heading}>
          <span className="request-id">Request {id}</span> {title}
        </h3>
      </header>
      {label !== '' && <Quote by="The assistant’s words" text={label} />}
      <RequestFacts request={request} simulation={simulation} />
      {(request.kind === 'transaction' || request.typedData !== null) && (
        <details className="request-details">
          <summary>Details</summary>
          <RequestDetails request={request} />
        </details>
      )}
      {warningsOf(request).map((words) => (
        <p key={words} className="warning">
          {words}
        </p>
      ))}
      {isUsed && wallets.records.areLost && (
        <p className="hint">
          This browser does not let the page store anything. Keep this tab open until the wallet has
          responded: after a reload, the page no longer knows of the request.
        </p>
      )}
      {isUsed && phase === 'open' && connected !== null && (
        <Differences {...{ request, connected }} chain={simulation?.chain} />
      )}
      {phase === 'open' && before !== null && (
        <p className="hint">Request {before} was made before this one.</p>
      )}
      <p aria-live="polite" className={phase === 'unclear' ? 'warning' : 'hint'}>
        {isReporting && phase === 'kept' ? 'Reporting to the service…' : STATUS[phase]}
      </p>
      {problem !== null && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
      {isDue && !isUsed && <Unused {...threadWallet} heading={heading} />}
      {isUsed && phase === 'unclear' && request.kind === 'transaction' && (
        <HashForm onTell={(hash) => void desk.tellHash(asked, hash)} />
      )}
      {isUsed && phase === 'open' && connected === null && <WalletChoice connection={wallets.connection} />}
      {isUsed && isDue && (
        <div className="request-actions">
          {connected !== null && (
            <button
              type="button"
              className={phase === 'open' ? 'button primary small' : 'button small'}
              aria-describedby={heading}
              onClick={approve(phase === 'unclear')}
            >
              {phase === 'open' ? approveWords(request, connected) : `Ask ${connected.wallet.name} again`}
            </button>
          )}
          <button type="button" className="button small" aria-describedby={heading} onClick={reject}>
            Reject
          </button>
        </div>
      )}
      {phase === 'asking' && isSlow && (
        <div className="request-actions">
          <button
            type="button"
            className="button small"
            onClick={() => {
              keepFocus();
              desk.stopWaiting(asked);
            }}
          >
            Stop waiting for the wallet
          </button>
        </div>
      )}
      {phase === 'kept' && !isReporting && (
        <div className="request-actions">
          <button type="button" className="button small" onClick={() => void desk.reportAgain(sessionId, id)}>
            Tell the service again
          </button>
        </div>
      )}
    </article>
  );
}

const STATUS = {
  open: '',
  asking: 'Answer in your wallet.',
  elsewhere: 'Another tab of this page is asking the wallet for this request.',
  unclear:
    'The wallet was asked before, and its response was lost. It may have signed: look at its activity before you ask it again.',
  kept: 'The wallet has responded. The service does not know it yet.',
  reported: '',
} as const satisfies Record<Phase, string>;

/** Says why a request cannot be approved or rejected in a thread that was opened by a link. */
function Unused(props: ThreadWallet & { readonly heading: string }): ReactNode {
  const { walletUse, heading, onUse } = props;
  if (walletUse === 'ask')
    return (
      <p className="hint">
        You opened this thread by a link. Answer the notice at the top first: until then you can only read
        this request.
      </p>
    );
  return (
    <>
      <p className="hint">Your wallet is not used in this thread, so you can only read this request.</p>
      <div className="request-actions">
        <button type="button" className="button small" aria-describedby={heading} onClick={onUse}>
          Use my wallet in this thread
        </button>
      </div>
    </>
  );
}

function approveWords(request: PendingRequest, { wallet, chainId }: Connected): string {
  const name = wallet.name === 'Browser wallet' ? 'the wallet' : wallet.name;
  return needsOtherChain(request, chainId) ? `Change chain and approve in ${name}` : `Approve in ${name}`;
}

/** Warns where the wallet has selected another account or chain than the request is for. */
function Differences(props: {
  readonly request: PendingRequest;
  readonly connected: Connected;
  readonly chain: string | null | undefined;
}): ReactNode {
  const { request, connected, chain } = props;
  const { account, chainId } = connected;
  const { from } = request;
  return (
    <>
      {from !== null && !isSameAddress(from, account) && (
        <p className="warning">
          The request is for {checksummed(from)}; the wallet has selected {checksummed(account)}.
        </p>
      )}
      {needsOtherChain(request, chainId) && (
        <p className="warning">
          Your wallet is on {chainId === null ? 'an unknown chain' : chainName(chainId)}; the request is for{' '}
          {chainName(request.chainId, chain)}. To approve, the wallet has to change its chain.
        </p>
      )}
    </>
  );
}

/** Takes the hash of a transaction that the wallet has sent although its response was lost. */
function HashForm({ onTell }: { readonly onTell: (hash: string) => void }): ReactNode {
  const [hash, setHash] = useState('');
  const id = useId();
  return (
    <form
      className="hash-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isHash(hash.trim())) onTell(hash.trim());
      }}
    >
      <label htmlFor={id}>If the wallet has sent it: the transaction’s hash</label>
      <span>
        <input
          id={id}
          value={hash}
          placeholder="0x…"
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => {
            setHash(event.target.value);
          }}
        />
        <button type="submit" className="button small" disabled={!isHash(hash.trim())}>
          Report it
        </button>
      </span>
    </form>
  );
}

/**
 * Keeps the focus within a card when the button that had it disappears.
 * @returns a function to call when such a button is pressed
 */
function useFocusOf(card: React.RefObject<HTMLElement | null>, phase: Phase): () => void {
  const isWanted = useRef(false);
  useEffect(() => {
    if (isWanted.current && document.activeElement === document.body) card.current?.focus();
  }, [card, phase]);
  return () => {
    isWanted.current = true;
  };
}

/** Returns true once something has lasted longer than `SLOW_MS`. */
function useSlow(lasts: boolean): boolean {
  const [isSlow, setIsSlow] = useState(false);
  useEffect(() => {
    if (!lasts) return;
    const timer = setTimeout(() => {
      setIsSlow(true);
    }, SLOW_MS);
    return () => {
      clearTimeout(timer);
      setIsSlow(false);
    };
  }, [lasts]);
  return isSlow;
}
