import { useMemo, useState, type ReactNode } from 'react';
import type { PendingRequest } from '../../../../client/pending.js';
import { verdictsIn } from '../../../../client/wallet-words.js';
import { useObservable } from '../../../parts/observable.js';
import type { Conversation } from '../../conversation/conversation.js';
import type { ViewMessage } from '../../../../client/view/view.js';
import { keyOf, type KeptRequest } from '../records.js';
import type { Wallets } from '../wallets.js';
import { OutcomeCard } from './outcome-card.js';
import { phaseOf } from './phase.js';
import { RequestCard, type ThreadWallet } from './request-card.js';

/** How long an outcome without a verdict is shown after a reload, in milliseconds. */
const RECENT_MS = 60 * 60_000;
/** Maximum number of outcomes shown. */
const MOST = 5;

/** The requests that wait for the wallet, and what came of the latest ones. */
export function PendingList(props: {
  readonly conversation: Conversation;
  readonly messages: readonly ViewMessage[];
  readonly wallets: Wallets;
  readonly threadWallet: ThreadWallet;
}): ReactNode {
  const { conversation, messages, wallets, threadWallet } = props;
  const { sessionId } = conversation.client;
  const { desk, records } = wallets;
  const pending = useObservable(conversation.pending);
  const kept = useObservable(records);
  const progress = useObservable(desk);
  const elsewhere = useObservable(desk.elsewhere);
  const verdicts = useMemo(() => verdictsOf(messages), [messages]);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());

  const open = pending.filter(({ id }) => (kept.get(keyOf(sessionId, id))?.reportedAt ?? null) === null);
  const outcomes = [...kept]
    .filter(([key, record]) => record.sessionId === sessionId && !hidden.has(key))
    .filter(([, { id }]) => !open.some((request) => request.id === id))
    .filter(([, record]) => isShown(record, verdicts))
    .sort(([, a], [, b]) => a.id - b.id)
    .slice(-MOST);
  return (
    <>
      <p className="visually-hidden" aria-live="polite">
        {announcement(open)}
      </p>
      {conversation.keeper === null && isAsking(messages) && (
        <p className="warning">
          This thread asks your wallet to sign. Only the current surface shows such requests, and this service
          does not expose it.
        </p>
      )}
      {(open.length > 0 || outcomes.length > 0) && (
        <section className="wallet-requests" aria-label="Wallet requests">
          {outcomes.map(([key, record]) => (
            <OutcomeCard
              key={key}
              record={record}
              verdict={verdicts.get(record.id) ?? null}
              progress={progress.get(key)}
              wallets={wallets}
              onHide={() => {
                setHidden((before) => new Set(before).add(key));
              }}
            />
          ))}
          {open.map((request, index) => {
            const key = keyOf(sessionId, request.id);
            return (
              <RequestCard
                key={key}
                request={request}
                sessionId={sessionId}
                phase={phaseOf(kept.get(key), progress.get(key), elsewhere.has(key))}
                problem={progress.get(key)?.problem ?? null}
                isReporting={progress.get(key)?.act === 'reporting'}
                before={index === 0 ? null : (open[index - 1]?.id ?? null)}
                {...{ messages, wallets, threadWallet }}
              />
            );
          })}
        </section>
      )}
    </>
  );
}

/** An outcome is shown until it is hidden or the page is loaded again, and then while the verdict is open. */
function isShown({ id, outcome, reportedAt }: KeptRequest, verdicts: ReadonlyMap<number, string>): boolean {
  if (outcome === null) return false;
  if (reportedAt === null || reportedAt >= performance.timeOrigin) return true;
  return outcome.status === 'success' && !verdicts.has(id) && reportedAt > Date.now() - RECENT_MS;
}

function announcement(open: readonly PendingRequest[]): string {
  const ids = open.map(({ id }) => String(id)).join(', ');
  return open.length === 0 ? '' : `The assistant asks your wallet to sign: request ${ids}`;
}

/** Returns what the service has found about requests, by id. */
function verdictsOf(messages: readonly ViewMessage[]): ReadonlyMap<number, string> {
  const texts = messages
    .filter(({ role }) => role === 'system')
    .flatMap(({ blocks }) => blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : [])));
  return new Map(texts.flatMap(verdictsIn).map(({ id, words }) => [id, words]));
}

function isAsking(messages: readonly ViewMessage[]): boolean {
  const tools = ['request_transactions', 'request_signature'];
  return messages.some(({ blocks }) =>
    blocks.some(
      (block) => block.kind === 'tool' && block.status === 'complete' && tools.includes(block.name),
    ),
  );
}
