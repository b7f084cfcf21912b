import { createPrompt, isEnterKey, isTabKey, useKeypress, useState } from '@inquirer/core';
import type { Check } from './prompts.ts';
import type { QuestionTheme } from './theme.ts';

interface CheckedText {
  readonly message: string;
  readonly initial: string | undefined;
  readonly check: Check | undefined;
  /** What is left on the screen afterwards. */
  readonly answered: ((text: string) => string) | undefined;
  readonly theme: QuestionTheme;
}

/**
 * A line of text that is checked while it is typed; inquirer's own `input` checks at Enter only.
 * Enter takes the offered text if nothing is typed; Tab puts it on the line to be changed.
 */
export const checkedText = createPrompt<string, CheckedText>((config, done) => {
  const { message, initial: offered = '', check, answered = (text) => text, theme } = config;
  const [typed, setTyped] = useState('');
  const [isDone, setDone] = useState(false);
  const [isRefused, setRefused] = useState(false);
  const broken = check?.(typed);

  useKeypress((key, readline) => {
    if (isDone) return;
    if (isEnterKey(key)) {
      const answer = typed === '' ? offered : typed;
      if (check?.(answer) === undefined) {
        setTyped(answer);
        setDone(true);
        done(answer);
      } else {
        // Enter has emptied the line.
        readline.write(typed);
        setRefused(true);
      }
      return;
    }
    if (isTabKey(key)) {
      readline.clearLine(0);
      readline.write(typed === '' ? offered : typed);
    }
    setRefused(false);
    setTyped(readline.line);
  });

  const { style, prefix } = theme;
  if (isDone) return `${prefix.done} ${style.message(message)} ${style.answer(answered(typed))}`;
  const offer = offered !== '' && typed === '' ? ` ${style.defaultAnswer(offered)}` : '';
  const line = `${prefix.idle} ${style.message(message)}${offer} ${typed}`;
  if (broken === undefined || (typed === '' && !isRefused)) return line;
  return [line, isRefused ? style.error(broken) : style.help(`  ${broken}`)];
});
