import type { ReactNode } from 'react';
import { isObject } from '../../../../client/json.js';
import type { JsonObject, JsonValue } from '../../../../client/types.js';
import { visible, visibleLine } from '../../../../client/visible-text.js';
import { Framed } from './framed.js';

/** Maximum number of values that the tree shows, those of the domain included, and of levels. */
const MAX_VALUES = 150;
const MAX_DOMAIN_VALUES = 20;
const MAX_LEVELS = 8;

/** A value, the maximum number of values shown inside it, and its level. */
interface Part {
  readonly value: JsonValue;
  readonly most: number;
  readonly level: number;
}

/** Shows typed data (EIP-712) as a tree: its domain, and its message. What does not fit is in the JSON below it. */
export function TypedData({ data }: { readonly data: JsonObject }): ReactNode {
  const { domain = {}, message = {}, primaryType } = data;
  const type = typeof primaryType === 'string' ? visibleLine(primaryType, 80) : 'none';
  const count = countOf(domain) + countOf(message);
  const inTree =
    countShown({ value: domain, most: MAX_DOMAIN_VALUES, level: 1 }) +
    countShown({ value: message, most: MAX_VALUES - MAX_DOMAIN_VALUES, level: 1 });
  return (
    <Framed by="What you would sign: names and values as the assistant gave them. The service does not vouch for them.">
      <div className="typed-data" tabIndex={0} role="group" aria-label="Typed data">
        <section>
          <h4>Signed for</h4>
          <Tree value={domain} most={MAX_DOMAIN_VALUES} level={1} />
        </section>
        <section>
          <h4>
            Message of the type <span className="name">{type}</span>
          </h4>
          <Tree value={message} most={MAX_VALUES - MAX_DOMAIN_VALUES} level={1} />
        </section>
      </div>
      {inTree === count ? (
        <p className="hint">Values: {count}. Scroll to see all of them.</p>
      ) : (
        <p className="left-out">
          Values: {count}, of which {count - inTree} are not shown. The details have all of them as JSON.
        </p>
      )}
    </Framed>
  );
}

/** Shows a value with some of the values inside it. */
function Tree({ value, most, level }: Part) {
  if (!isObject(value) && !Array.isArray(value)) return <Leaf value={value} />;
  const { shown, share, hidden } = selected(value, most, level);
  if (shown.length + hidden === 0) return <span className="value">empty</span>;
  return (
    <ul>
      {shown.map(([name, item]) => (
        <li key={name}>
          <span className="name">{visibleLine(name, 80)}</span>{' '}
          <Tree value={item} most={share} level={level + 1} />
        </li>
      ))}
      {hidden > 0 && <li className="left-out">{hidden} more are not shown.</li>}
    </ul>
  );
}

/** A value without values inside it. A text has a frame of its own, so that no line of it looks like the next value. */
function Leaf({ value }: { readonly value: null | boolean | number | string }): ReactNode {
  return typeof value === 'string' ? (
    <q className="value">{visible(value, 400)}</q>
  ) : (
    <span className="value">{String(value)}</span>
  );
}

/**
 * Selects at most `most` values inside a value. The values of one level are counted first, and those inside them share
 * the rest, so that no field of a message can hide the others.
 */
function selected(value: JsonObject | readonly JsonValue[], most: number, level: number) {
  const entries = Object.entries<JsonValue>(value);
  const shown = level > MAX_LEVELS ? [] : entries.slice(0, most);
  const groups = shown.filter(([, item]) => typeof item === 'object' && item !== null).length;
  const share = Math.floor((most - shown.length) / Math.max(groups, 1));
  return { shown, share, hidden: entries.length - shown.length };
}

/** Counts the values that the tree shows inside a value. */
function countShown({ value, most, level }: Part): number {
  if (!isObject(value) && !Array.isArray(value)) return 0;
  const { shown, share } = selected(value, most, level);
  return shown.reduce(
    (count, [, item]) => count + countShown({ value: item, most: share, level: level + 1 }),
    shown.length,
  );
}

/** Counts the values in a value. Iterative, so that no depth can exhaust the call stack. */
function countOf(value: JsonValue): number {
  let count = 0;
  for (let level = [value]; level.length > 0;) {
    const items = level
      .filter((item) => typeof item === 'object' && item !== null)
      .flatMap(Object.values<JsonValue>);
    count += items.length;
    level = items;
  }
  return count;
}
