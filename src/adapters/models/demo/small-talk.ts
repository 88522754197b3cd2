import type { ToolDescription } from '../../../core/ports/tool.js';
import { listTools } from './command.js';

const GREETING =
  /^(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day))\b[^?\d]{0,24}[.!?]*$/i;
const QUESTION_ABOUT_ITSELF =
  /^(?:please )?help(?: me)?[.!?]*$|\bwhat (?:can|do) you (?:do|know|understand)\b|\bwhat can i (?:ask|say|do)\b|\bwho are you\b|\bwhat are you\b|\bwhich model\b|\bare you (?:a|an) (?:bot|human|ai|model|llm)\b|\bintroduce yourself\b/i;
const THANKS = /^(?:many )?(?:thanks|thank you|thx|cheers)\b.{0,24}$/i;
const FAREWELL = /^(?:bye|goodbye|good night|see you|farewell)\b.{0,24}$/i;
const SHOWN_INPUT = 60;

/** A fixed reply to a greeting, thanks, a farewell or a question about the demo itself. */
export function greet(text: string, tools: readonly ToolDescription[]): string | undefined {
  if (text === '' || GREETING.test(text) || QUESTION_ABOUT_ITSELF.test(text)) {
    return `Hello! I am the built-in demo of this service, without a language model behind me. ${hints(tools)}`;
  }
  if (THANKS.test(text)) return 'You are welcome.';
  if (FAREWELL.test(text)) return 'Goodbye!';
  return undefined;
}

/** The reply to a message that the demo does not understand. */
export function bewilderment(text: string, tools: readonly ToolDescription[]): string {
  const shown = text.length > SHOWN_INPUT ? `${text.slice(0, SHOWN_INPUT).toWellFormed()}…` : text;
  return (
    `I did not understand “${shown}”: I am the built-in demo, without a language model behind me. ${hints(tools)} ` +
    'For real answers, select another model, or ask the operator to configure one.'
  );
}

function hints(tools: readonly ToolDescription[]): string {
  const offered = (name: string): boolean => tools.some((tool) => tool.name === name);
  const examples = [
    ...(offered('get_time') ? ['“what time is it in Tokyo?”'] : []),
    ...(offered('calculate') ? ['“what is 12*(3+4)?”'] : []),
    ...(offered('get_token_price') ? ['“price of ETH and BTC”'] : []),
    ...(offered('get_balance') ? ['“what is my balance?”'] : []),
    ...(offered('stage_transaction') ? ['“send 0.01 ETH to vitalik.eth”'] : []),
    '“remember 42”, and later “what number did I ask you to remember?”',
    '“count from 1 to 100”',
  ];
  return `Try ${examples.join(', ')}, or call a tool with /tool NAME {json}. ${listTools(tools)}`;
}
