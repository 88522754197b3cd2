const FUNCTIONS =
  'sqrt|cbrt|abs|sign|floor|ceil|trunc|round|exp|log10|log2|log|ln|sin|cos|tan|asin|acos|atan|min|max|sum|mean|gcd|lcm|factorial';
/** A token of an expression. */
const TOKEN = String.raw`(?:\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+|\*\*|[-+*/^()!%×÷−,]|\b(?:${FUNCTIONS})(?=\s*\()|\b(?:pi|e|mod)\b)`;
const RUN = new RegExp(String.raw`${TOKEN}(?:\s*${TOKEN})*`, 'gi');
const ASKED = /\b(?:calculate|compute|evaluate|work out|solve)\b\s*:?\s*(?<rest>[^\n]+)/i;
const NEXT_WISH =
  /\s*(?:[?;]|(?:,\s*)?\b(?:and|then)\s+(?:what|how|tell|calculate|compute|count|remember|show|give|price|call)\b).*$/i;
const LEAD =
  /\b(?:what(?:'s| is| are)?|how much is|calculate|compute|evaluate|work out|solve|equals?)\b|=\s*\??\s*$/i;
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/(?<=[\d)])\s+plus\s+(?=[-\d(.])/gi, ' + '],
  [/(?<=[\d)])\s+minus\s+(?=[-\d(.])/gi, ' - '],
  [/(?<=[\d)])\s+(?:times|multiplied by|x)\s+(?=[-\d(.])/gi, ' * '],
  [/(?<=\d)x(?=\d)/gi, '*'],
  [/(?<=[\d)])\s+(?:divided by|over)\s+(?=[-\d(.])/gi, ' / '],
  [/(?<=[\d)])\s+(?:to the power of|to the power|\*\*)\s+(?=[-\d(.])/gi, ' ^ '],
  [/(?<=[\d)])\s+(?:modulo)\s+(?=[-\d(.])/gi, ' mod '],
  [/(?<=[\d)])\s+squared\b/gi, '^2'],
  [/(?<=[\d)])\s+cubed\b/gi, '^3'],
  [/(?<=\d)\s*(?:percent|%)\s+of\s+(?=[\d(])/gi, '% * '],
  [/\b(?:the )?square root of\s+(\d[\d.]*)/gi, 'sqrt($1)'],
  [/\b(?:the )?factorial of\s+(\d+)/gi, '$1!'],
  [/(?<=\d),(?=\d{3}\b)/g, ''],
];

/** The expressions that a message asks to calculate, as symbols or in words ("12 plus 3", "15% of 80"). */
export function expressionsIn(text: string): string[] {
  const spoken = WORDS.reduce((words, [from, to]) => words.replace(from, to), text);
  const runs = [...spoken.matchAll(RUN)].map(([run]) => trimmed(run)).filter(isExpression);
  const wholly = runs.length === 1 && runs[0] === trimmed(spoken.replace(/[?=\s]+$/, '').trim());
  if (runs.length > 0 && (wholly || LEAD.test(spoken))) return [...new Set(runs)];
  const rest = ASKED.exec(spoken)?.groups?.rest?.replace(NEXT_WISH, '').trim().replace(/\.$/, '') ?? '';
  return /[\d(]/.test(rest) ? [rest] : [];
}

function isExpression(run: string): boolean {
  return (
    /[\d)!%]\s*(?:[-+*/^×÷−%]|\*\*|mod\b)\s*[-+]?[\d(.a-z]/i.test(run) ||
    /\d\s*!/.test(run) ||
    /[a-z]\d*\s*\(/i.test(run)
  );
}

/** Removes characters that cannot begin or end an expression, and excess closing parentheses. */
function trimmed(run: string): string {
  const text = run.replace(/^[\s,*/^!%×÷)]+/, '').replace(/[\s,*/^+(×÷−-]+$/, '');
  const excess = text.split(')').length - text.split('(').length;
  return excess > 0 && text.endsWith(')') ? trimmed(text.slice(0, -1)) : text;
}
