import { useId, type ReactNode } from 'react';
import { CopyButton } from '../../../parts/copy-button.js';
import { Icon } from '../../../parts/icon.js';
import { useObservable } from '../../../parts/observable.js';
import { chainName } from '../chains.js';
import type { KeptRequest } from '../records.js';
import type { Progress } from '../request-desk.js';
import type { Wallets } from '../wallets.js';
import { useMined } from './mined.js';
import { visible } from '../../../../client/visible-text.js';

/** Maximum length of a signature that is shown, in characters; all of it can be copied. */
const SHOWN = 300;

/** What came of a request: what the wallet returned, where the transaction is, and what the service has verified. */
export function OutcomeCard(props: {
  readonly record: KeptRequest;
  /** The words of the service; null: none yet. */
  readonly verdict: string | null;
  readonly progress: Progress | undefined;
  readonly wallets: Wallets;
  readonly onHide: () => void;
}): ReactNode {
  const { record, verdict, progress, wallets, onHide } = props;
  const { id, kind, chainId, title, outcome, reportedAt, sessionId } = record;
  const heading = useId();
  if (outcome === null) return null;
  const isReported = reportedAt !== null;
  const problem = progress?.problem ?? null;
  return (
    <article className="request" data-phase={isReported ? 'reported' : 'kept'} aria-labelledby={heading}>
      <header>
        <Icon name="wallet" />
        <h3 id={heading}>
          <span className="request-id">Request {id}</span> {title}
        </h3>
        {isReported && (
          <button
            type="button"
            className="icon-button small"
            aria-label={`Hide request ${String(id)}`}
            onClick={onHide}
          >
            <Icon name="close" />
          </button>
        )}
      </header>
      <div aria-live="polite">
        {outcome.status === 'failed' ? (
          <p>{outcome.error} Nothing was signed.</p>
        ) : (
          <>
            <Proof kind={kind} proof={outcome.proof} />
            {kind === 'transaction' && (
              <Confirmation chainId={chainId} hash={outcome.proof} wallets={wallets} />
            )}
          </>
        )}
        {isReported && (problem === null || verdict !== null) && outcome.status === 'success' && (
          <Verdict words={verdict} />
        )}
        {isReported && problem === null && outcome.status === 'failed' && (
          <p className="hint">The assistant knows the outcome.</p>
        )}
        {progress?.act === 'reporting' && problem === null && (
          <p className="hint">Reporting to the service…</p>
        )}
      </div>
      {problem !== null && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
      {!isReported && progress?.act !== 'reporting' && (
        <div className="request-actions">
          <button
            type="button"
            className="button small"
            onClick={() => void wallets.desk.reportAgain(sessionId, id)}
          >
            Tell the service again
          </button>
        </div>
      )}
    </article>
  );
}

function Proof({ kind, proof }: { readonly kind: KeptRequest['kind']; readonly proof: string }): ReactNode {
  const name = kind === 'transaction' ? 'Transaction' : 'Signature';
  if (proof === '') return <p>The wallet signed it.</p>;
  return (
    <p className="whole">
      <span>
        {name} <code>{visible(proof, SHOWN)}</code>
      </span>
      <CopyButton text={proof} label={`Copy the ${name.toLowerCase()}`} />
    </p>
  );
}

/** What the wallet says about a transaction; it may be ahead of the service, or wrong. */
function Confirmation(props: {
  readonly chainId: number;
  readonly hash: string;
  readonly wallets: Wallets;
}): ReactNode {
  const { chainId, hash, wallets } = props;
  const { connected } = useObservable(wallets.connection);
  const provider = connected?.chainId === chainId ? connected.wallet.provider : null;
  const mined = useMined(provider, hash);
  if (mined === null)
    return <p>Sent by the wallet on {chainName(chainId)}; not mined as far as the wallet knows.</p>;
  const words = mined.succeeded ? 'It succeeded' : 'It failed';
  return (
    <p>
      By the wallet: in block {mined.block}. {words}.
    </p>
  );
}

function Verdict({ words }: { readonly words: string | null }): ReactNode {
  if (words === null) return <p className="hint">The service verifies it on the chain…</p>;
  const isGood = words.startsWith('confirmed');
  return (
    <p className="verdict" data-good={isGood}>
      <strong>Verified by the service:</strong> {visible(words, 1_000)}
    </p>
  );
}
