import { isJsonObject, type JsonObject } from '../../../core/model/json.js';

/** The longest text that is signed, in UTF-16 code units. */
const MAX_SIGNED = 4_000;
const MAX_SHOWN = 60;
const REQUEST =
  /^(?:(?:please|can you|could you|will you|hey|hi|hello|now|ok|okay|i want to|i'd like to|let me|let's)[, ]+)*sign(?:\s+in)?\b(?<rest>[^]*)$/i;
const QUOTED = /^[\w\s]{0,60}[:,]?\s{0,9}["“](?<text>[^]+)["”][.!]?$/;
const AFTER_COLON = /^[\w\s]{0,60}:\s{0,9}(?<text>[^]+)$/;
const AFTER_WORD = /^\s(?:\w{1,20}\s){0,4}?(?:message|text)\s(?<text>[^]+)$/i;

/** The arguments of `request_signature`, or why there is nothing to sign. */
export type SignatureWish =
  { readonly kind: 'sign'; readonly args: JsonObject } | { readonly kind: 'unclear'; readonly words: string };

/**
 * Extracts a text to sign ("sign this: …", "sign in message …"), exactly as it was written. A JSON object with a
 * `primaryType` is EIP-712 typed data.
 * @returns undefined when the message requests no signature
 */
export function signatureIn(message: string): SignatureWish | undefined {
  // A longer message is refused below.
  const said = message.slice(0, MAX_SIGNED + 100).trim();
  const rest = REQUEST.exec(said)?.groups?.rest;
  if (rest === undefined) return undefined;
  const text = [QUOTED, AFTER_COLON, AFTER_WORD]
    .map((pattern) => pattern.exec(rest)?.groups?.text)
    .find((found) => found !== undefined && found.trim() !== '');
  if (text === undefined) return undefined;
  if (message.trim().length > MAX_SIGNED)
    return {
      kind: 'unclear',
      words: `I sign at most ${String(MAX_SIGNED)} characters. Give me a shorter text.`,
    };
  const typedData = typedDataIn(text);
  if (typedData !== undefined) {
    const type = typeof typedData.primaryType === 'string' ? typedData.primaryType : 'typed data';
    return { kind: 'sign', args: { typed_data: typedData, description: shortened(`Sign ${type}`) } };
  }
  return { kind: 'sign', args: { text, description: shortened(`Sign “${text}”`) } };
}

function typedDataIn(text: string): JsonObject | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && 'primaryType' in value ? value : undefined;
  } catch {
    return undefined;
  }
}

function shortened(words: string): string {
  return words.length > MAX_SHOWN ? `${words.slice(0, MAX_SHOWN - 1).toWellFormed()}…` : words;
}
