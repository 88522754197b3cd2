import { useCallback, useEffect, useRef } from 'react';
import { useObservable } from '../../parts/observable.js';
import type { Conversation } from '../conversation/conversation.js';
import type { Wallets } from './wallets.js';

/**
 * Reports the connected wallet to the session when its account or chain changes, once the thread has begun.
 * @param isUsed whether the wallet is used in this session
 * @returns a function that reports it now, for the first message; it never rejects, so that the message is sent anyway
 */
export function useWalletReports(
  conversation: Conversation,
  { connection }: Wallets,
  isUsed: boolean,
): () => Promise<void> {
  const { connected } = useObservable(connection);
  const view = useObservable(conversation.view);
  const hasBegun = view.isLoaded && view.messages.length > 0;
  const wasConnected = useRef(false);
  const account = connected?.account ?? null;
  const chainId = connected?.chainId ?? null;
  const report = useCallback(async () => {
    if (!isUsed) return;
    wasConnected.current ||= account !== null;
    // A page without a wallet says nothing about one that another page has.
    if (!wasConnected.current) return;
    const wallet = { address: account, chainId, isConnected: account !== null };
    await conversation.reportWallet(wallet).catch(() => undefined);
  }, [conversation, account, chainId, isUsed]);
  useEffect(() => {
    if (hasBegun) void report();
  }, [hasBegun, report]);
  return report;
}

/** Reads the state when an outcome was reported, because the legacy surface does not announce the turn that begins. */
export function useReportedOutcomes(conversation: Conversation, { records }: Wallets): void {
  const { client } = conversation;
  const kept = useObservable(records);
  const reported = [...kept.values()].filter(
    ({ sessionId, reportedAt }) => sessionId === client.sessionId && reportedAt !== null,
  ).length;
  const before = useRef(reported);
  useEffect(() => {
    if (reported > before.current) client.refresh();
    before.current = reported;
  }, [client, reported]);
}
