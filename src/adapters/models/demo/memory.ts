const REMEMBER =
  /^(?:(?:please|hey|hi|ok|okay|now|and|also|can you|could you|would you|will you|i want you to|i'd like you to)[, ]+)*(?:remember|memori[sz]e|keep in mind|don'?t forget|do not forget|note(?= that|:))\b(?!\s+me\b)(?:\s+(?:that|this|the fact that)\b)?[:,]?\s*(?<what>.*)$/is;
/** “Can you remember what …” is a question, not a request to remember. */
const INDIRECT =
  /^(?:what|who|whom|whose|where|when|which|how|if|whether)\b|^my\b(?![^?]*(?:\d|\b(?:is|are|was)\b)).*\?$/i;
const QUESTION =
  /\?\s*$|^(?:what|who|whom|whose|where|when|which|how|why|do|did|does|can|could|is|are|am|was)\b/i;
const FACT =
  /\bmy\b.+\b(?:is|are|was|were)\b|\bi(?:'m| am| was| live| like| love| have| own| work| prefer)\b|\bcall me\b/i;
const ABOUT_THE_USER = /\b(?:i|i'm|my|mine|me)\b/i;
const NUMBER = /-?\d[\d,]*(?:\.\d+)?/;
const EMPTY_WORDS = new Set(
  (
    'a an the is are was were am be been do does did have has had to of in on at for with from by and or that this it its i you me my mine your ' +
    'what who whom whose where when which how why tell told say said ask asked know remember remembered remind again please can could would will ' +
    'called named call one thing so now just about s m re'
  ).split(' '),
);

/** Acknowledges a request to remember ("remember 42"). Stores nothing: the history is the memory. */
export function rememberAsAsked(text: string): string | undefined {
  const what = remembered(text);
  if (what === undefined) return undefined;
  return what === '' ? 'What shall I remember?' : `I will remember: ${mirrored(what)}.`;
}

/** Acknowledges a statement of the user about themselves. */
export function noteFact(text: string): string | undefined {
  const fact = sentences(text).find((sentence) => FACT.test(sentence) && !QUESTION.test(sentence));
  return fact === undefined
    ? undefined
    : `Noted: ${mirrored(fact)}. Ask me about it later in this conversation.`;
}

/** The reply to a question about the user that the history does not answer. */
export function admitIgnorance(text: string): string | undefined {
  if (!QUESTION.test(text) || !/\bmy\b|\b(?:did|have|am|do) i\b/i.test(text)) return undefined;
  return 'I find nothing about that in our conversation, and I am only the built-in demo, without a language model.';
}

/**
 * Answers a question about earlier messages.
 * @param earlier the earlier messages of the user, oldest first
 */
export function recall(text: string, earlier: readonly string[]): string | undefined {
  if (!QUESTION.test(text)) return undefined;
  if (!ABOUT_THE_USER.test(text)) return recalled(bestMatch(text, factsIn(earlier), contentWords(text).size));
  const aboutWords = /\b(?:say|said|ask|asked|tell|told|write|wrote|message|question|words?)\b/i.test(text);
  if (aboutWords && !/\bremember\b/i.test(text)) {
    if (/\bfirst\b/i.test(text)) return quoted('The first thing you said', earlier.at(0));
    if (/\b(?:last|just|previous|before)\b/i.test(text))
      return quoted('The last thing you said', earlier.at(-1));
  }
  return /\bto (?:remember|memori[sz]e)\b/i.test(text)
    ? recallRemembered(text, earlier)
    : recallFact(text, earlier);
}

function recallRemembered(text: string, earlier: readonly string[]): string {
  const notes = earlier.map(remembered).filter((note) => note !== undefined && note !== '');
  const newestFirst = notes.filter((note) => note !== undefined).reverse();
  const listed = /\b(?:everything|all|things|numbers)\b/i.test(text);
  if (listed && newestFirst.length > 1) {
    return `You asked me to remember: ${newestFirst.reverse().map(mirrored).join('; ')}.`;
  }
  const number = /\bnumber|\bdigits|\bhow (?:many|much|old)\b/i.test(text)
    ? newestFirst.map((note) => NUMBER.exec(note)?.[0]).find((digits) => digits !== undefined)
    : undefined;
  if (number !== undefined) return `The number you asked me to remember is ${number.replace(/,$/, '')}.`;
  const note = bestMatch(text, newestFirst) ?? newestFirst[0];
  return note === undefined
    ? 'You have not asked me to remember anything in this conversation.'
    : `You asked me to remember: ${mirrored(note)}.`;
}

function recallFact(text: string, earlier: readonly string[]): string | undefined {
  const facts = factsIn(earlier);
  const introduction = /\bmy (?:first |last |full )?name\b|\bwho am i\b/i.test(text)
    ? facts.find((fact) => /\bmy name is\b|\bcall me\b|\bi am called\b/i.test(fact))
    : undefined;
  return recalled(introduction ?? bestMatch(text, facts));
}

/** All sentences that are not questions, newest first. */
function factsIn(earlier: readonly string[]): string[] {
  return earlier
    .flatMap((message) => sentences(remembered(message) ?? message))
    .filter((sentence) => !QUESTION.test(sentence) && !sentence.startsWith('/tool'))
    .reverse();
}

function recalled(fact: string | undefined): string | undefined {
  return fact === undefined ? undefined : `You told me: ${mirrored(fact)}.`;
}

/** The text that a message asks to remember, if any; "remember that" refers to the sentences before it. */
function remembered(message: string): string | undefined {
  const all = sentences(message);
  for (const [index, sentence] of all.entries()) {
    const what = REMEMBER.exec(sentence)?.groups?.what;
    if (what === undefined || INDIRECT.test(what)) continue;
    const rest = [what, ...all.slice(index + 1)].join('. ').replace(/[\s.!?]+$/, '');
    return /^(?:it|this|that|them|please)?$/i.test(rest) ? all.slice(0, index).join('. ') : rest;
  }
  return undefined;
}

/** The note that shares the most words with the question, at least `least`; on a tie, the newest. */
function bestMatch(question: string, newestFirst: readonly string[], least = 1): string | undefined {
  const wanted = contentWords(question);
  let best: string | undefined;
  let most = Math.max(least, 1) - 1;
  for (const note of newestFirst) {
    const words = contentWords(note);
    const shared = [...wanted].filter((word) => words.has(word)).length;
    if (shared > most) [best, most] = [note, shared];
  }
  return best;
}

function contentWords(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => !EMPTY_WORDS.has(word)).map((word) => word.replace(/(?<=..)s$/, '')));
}

function sentences(text: string): string[] {
  const parts = text.split(/(?<=[.!?])\s+|\n+/).map((part) => part.trim());
  return parts.filter((part) => part !== '').map((part) => part.replace(/[.!]+$/, ''));
}

function quoted(what: string, message: string | undefined): string {
  return message === undefined ? 'You have said nothing before this.' : `${what} was: “${message}”`;
}

/** Changes a sentence of the user from the first person to the second. */
function mirrored(text: string): string {
  const swaps: readonly (readonly [RegExp, string])[] = [
    [/\bI am\b/gi, 'you are'],
    [/\bI'm\b/gi, 'you are'],
    [/\bI was\b/gi, 'you were'],
    [/\bI've\b/gi, 'you have'],
    [/\bmy\b/gi, 'your'],
    [/\bmine\b/gi, 'yours'],
    [/\b(?:I|me)\b/g, 'you'],
  ];
  const words = text.replace(/^(?:hello|hi|hey)\b[,! ]*/i, '').replace(/[\s.!]+$/, '');
  return swaps.reduce((spoken, [from, to]) => spoken.replace(from, to), words);
}
