import type { Paint } from '../output/colour.ts';
import { clamp, width, wrapped } from '../output/width.ts';

/**
 * The look of inquirer's questions. Its own cyan, blue and yellow are unreadable in many palettes;
 * these are the colours of the output.
 */
export function themeOf(paint: Paint, columns: number) {
  /** The first keys and the last one, Enter, matter most if there is little room. */
  const tip = (keys: readonly string[]): string => {
    const text = keys.join(' · ');
    return width(text) < columns || keys.length < 3
      ? paint('dim', clamp(text, columns - 1))
      : tip([...keys.slice(0, -2), ...keys.slice(-1)]);
  };
  return {
    prefix: { idle: paint('cyan', '?'), done: paint('green', '✔') },
    spinner: { interval: 80, frames: ['…'] },
    icon: { cursor: '❯', checked: paint('green', '◉'), unchecked: '◯' },
    style: {
      message: (text: string) => paint('bold', text),
      answer: (text: string) => paint('cyan', text),
      highlight: (text: string) => paint('cyan', text),
      searchTerm: (text: string) => text,
      description: (text: string) => text,
      disabled: (text: string) => paint('dim', text),
      help: (text: string) => paint('dim', text),
      defaultAnswer: (text: string) => paint('dim', `(${text})`),
      error: (text: string) => paint('red', wrapped(`> ${text}`, columns, 2)),
      key: (text: string) => paint('bold', text),
      keysHelpTip: (keys: readonly (readonly [string, string])[]) =>
        tip(keys.map(([key, action]) => `${key} ${action}`)),
    },
  };
}

export type QuestionTheme = ReturnType<typeof themeOf>;
