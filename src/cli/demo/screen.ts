import { styleText } from 'node:util';

export type Tone = 'good' | 'bad' | 'retried' | 'quiet' | 'strong';

const formats = { good: 'green', bad: 'red', retried: 'yellow', quiet: 'dim', strong: 'bold' } as const;

/** Where people read: lines that stay, and on a terminal one line below them that changes. */
export interface Screen {
  line(text?: string): void;
  /** Shows how far it is; nothing at all where there is no terminal. */
  progress(text: string): void;
  /** Takes the progress line away. */
  endProgress(): void;
  /** The text in a colour, where colours are wanted. */
  paint(tone: Tone, text: string): string;
}

export function createScreen(out: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): Screen {
  const terminal = out.isTTY;
  const colourful = terminal && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';
  let progressShown = false;
  const clear = (): string => {
    const text = progressShown ? '\r\u001B[K' : '';
    progressShown = false;
    return text;
  };
  return {
    line: (text = '') => void out.write(`${clear()}${text}\n`),
    progress(text) {
      if (!terminal) return;
      // A line that wraps could not be cleared again.
      const shown = text.slice(0, Math.max(0, out.columns - 1));
      out.write(`${clear()}${shown}`);
      progressShown = true;
    },
    endProgress: () => void (progressShown && out.write(clear())),
    paint: (tone, text) => (colourful ? styleText(formats[tone], text, { validateStream: false }) : text),
  };
}
