import { Argument, Command } from 'commander';
import type { Terminal } from './terminal.js';

const SHELLS = ['bash', 'zsh'] as const;

/** `completion bash|zsh`: prints a script that completes the commands and flags of `program`. */
export function completionCommand(terminal: Terminal, program: Command): Command {
  return new Command('completion')
    .description('print a completion script; usage: source <(diptych completion bash)')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action((shell: string) => {
      terminal.output.write(shell === 'zsh' ? `${ZSH}${bashScript(program)}` : bashScript(program));
    });
}

/** Lets zsh run the bash script. */
const ZSH = `#compdef diptych
autoload -U +X compinit && compinit -u
autoload -U +X bashcompinit && bashcompinit
`;

/** A command, and the words that can follow it on the command line. */
interface Place {
  /** The command with its parents, such as `keys create`. */
  readonly path: string;
  readonly words: readonly string[];
  /** The choices of each flag that takes a value; null: any value, such as a file. */
  readonly values: ReadonlyMap<string, readonly string[] | null>;
}

function placesOf(command: Command, path: readonly string[] = []): Place[] {
  const options = command.createHelp().visibleOptions(command);
  const subcommands = command.createHelp().visibleCommands(command);
  const flags = options.flatMap(({ long }) => long ?? []);
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const takers = options.filter(({ required, optional }) => required || optional);
  const place: Place = {
    path: path.join(' '),
    words: [...subcommands.map((child) => child.name()), ...choices, ...flags],
    values: new Map(takers.map(({ long, argChoices }) => [long ?? '', argChoices ?? null])),
  };
  return [place, ...subcommands.flatMap((child) => placesOf(child, [...path, child.name()]))];
}

/** The script finds the command from the words of the line, and a flag's choices from the word before the cursor. */
function bashScript(program: Command): string {
  const places = placesOf(program);
  const paths = places.map(({ path }) => quoted(path)).join('|');
  const values = places.flatMap(({ path, values }) =>
    [...values].map(
      ([flag, choices]) =>
        `    ${quoted(`${path}:${flag}`)}) ${choices === null ? 'COMPREPLY=($(compgen -f -- "$word"))' : reply(choices)}; return ;;`,
    ),
  );
  const words = places.map(({ path, words }) => `    ${quoted(path)}) ${reply(words)} ;;`);
  return `_diptych() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" place='' next i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${place:+$place }\${COMP_WORDS[i]}"
    case "$next" in ${paths}) place="$next" ;; esac
  done
  case "$place:$before" in
${values.join('\n')}
  esac
  case "$place" in
${words.join('\n')}
  esac
  # Fall back to file names.
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -F _diptych diptych
`;
}

function reply(words: readonly string[]): string {
  return `COMPREPLY=($(compgen -W ${quoted(words.join(' '))} -- "$word"))`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
