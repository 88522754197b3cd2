/** A thread in the list. */
export interface ListedThread {
  readonly sessionId: string;
  readonly title: string;
  /** The time of its last message, in milliseconds since the epoch; null: not known. */
  readonly at: number | null;
}

/** Threads under a heading such as `Today`. */
export interface ThreadGroup {
  readonly heading: string;
  readonly threads: readonly ListedThread[];
}

/** The heading of threads whose time this browser does not know. */
const OTHERS = 'From other devices';

/** Returns the threads whose titles contain each word of a query, whatever the case and the accents. */
export function matching(threads: readonly ListedThread[], query: string): readonly ListedThread[] {
  const words = plain(query).split(/\s+/);
  return threads.filter(({ title }) => words.every((word) => plain(title).includes(word)));
}

/** Groups threads by the day of their last message, newest first; those without a known time come last, in order. */
export function groupsOf(threads: readonly ListedThread[], now: Date): readonly ThreadGroup[] {
  // A day that begins or ends summer time has 23 or 25 hours.
  const daysAgo = (days: number): number =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() - days).getTime();
  const bounds = [
    { heading: 'Today', from: daysAgo(0) },
    { heading: 'Yesterday', from: daysAgo(1) },
    { heading: 'Previous 7 days', from: daysAgo(7) },
    { heading: 'Previous 30 days', from: daysAgo(30) },
    { heading: 'Older', from: -Infinity },
  ];
  const headingOf = ({ at }: ListedThread): string =>
    bounds.find(({ from }) => at !== null && at >= from)?.heading ?? OTHERS;
  const sorted = threads.toSorted((one, other) => (other.at ?? 0) - (one.at ?? 0));
  return [...bounds.map(({ heading }) => heading), OTHERS]
    .map((heading) => ({ heading, threads: sorted.filter((thread) => headingOf(thread) === heading) }))
    .filter((group) => group.threads.length > 0);
}

function plain(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().trim();
}
