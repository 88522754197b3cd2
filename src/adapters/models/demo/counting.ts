const COUNT =
  /\bcount(?:\s+(?:up|down|backwards?|slowly|for me|please))*(?:\s+from\s+(?<from>-?\d[\d,]*))?(?:\s+(?:up|down|backwards?))?(?:\s+(?:to|until|through)\s+(?<to>-?\d[\d,]*))?(?:\s+(?:by|in steps of)\s+(?<step>\d[\d,]*)s?)?/i;
const MOST = 10_000;

/** Counts on request ("count from 1 to 1000", "count down from 10", "count to 20 by 2"), up to 10,000 numbers. */
export function countAsAsked(text: string): string | undefined {
  const { from, to, step } = COUNT.exec(text)?.groups ?? {};
  if (from === undefined && to === undefined) return undefined;
  const start = from === undefined ? 1 : asNumber(from);
  const end = to === undefined ? (/down|backward/i.test(text) ? 0 : start + 9) : asNumber(to);
  const stride = Math.max(1, step === undefined ? 1 : asNumber(step));
  const many = Math.floor(Math.abs(end - start) / stride) + 1;
  if (many > MOST || !Number.isSafeInteger(start) || !Number.isSafeInteger(end)) {
    return `I am sorry, that is too much for me: I count at most ${MOST.toString()} numbers at a time.`;
  }
  const direction = end < start ? -stride : stride;
  return Array.from({ length: many }, (_, index) => start + index * direction).join(' ');
}

function asNumber(digits: string): number {
  return Number(digits.replaceAll(',', ''));
}
