import { close, constants, fstatSync, openSync, write } from 'node:fs';

/**
 * Takes lines and never gives anything back: it does not block, throw or slow a request down. What the target cannot
 * take (full disk, closed pipe, a reader that stopped) is lost, and counted.
 */
export interface LineSink {
  /** @param line With its line feed. */
  write(line: string): void;
  /** Lines that were lost. */
  readonly lostCount: number;
  /**
   * Opens the path anew, for whoever moved the file away: a batch that is being written goes to the old file whole, the
   * lines after it to the new one. A standard stream stays.
   * @throws the system's error when the file cannot be opened; the old one stays in use
   */
  reopen(): void;
  /** Writes what is held, at most for `graceMs`; then the target is closed, unless it is a standard stream. */
  close(graceMs?: number): Promise<void>;
}

export interface LineSinkOptions {
  /** Called when lines were lost, with what happened and the count so far; at most once in `problemIntervalMs`. */
  readonly onLost?: ((reason: string, lostCount: number) => void) | undefined;
  /** Characters held while the target is slow. Default 4 Mi. */
  readonly maxHeldLength?: number | undefined;
  /** Default 1000. */
  readonly problemIntervalMs?: number | undefined;
}

/** Takes a batch; `done` is called once, with whether all of it is written. */
interface Target {
  write(batch: Buffer, done: (error: Error | undefined) => void): void;
  close(): Promise<void>;
}

/**
 * Lines of this time leave in one write. A write is a trip to another thread and back: one for each turn of the event
 * loop costs a busy gateway a third of what the requests cost.
 */
const gatherMs = 10;

/** A pipe or file that cannot take more now is asked again after this. */
const retryMs = 20;

/**
 * @param path A file, appended to and created when missing; `-` for standard output.
 * @throws the system's error when the file cannot be opened
 */
export function createLineSink(path: string, options: LineSinkOptions = {}): LineSink {
  if (path === '-') return new BufferedSink(() => standardTarget(1), options);
  return new BufferedSink(() => fileTarget(openForAppend(path), true), options);
}

/** @param fd 1 standard output, 2 standard error. */
export function createStandardSink(fd: 1 | 2, options: LineSinkOptions = {}): LineSink {
  return new BufferedSink(() => standardTarget(fd), options);
}

class BufferedSink implements LineSink {
  lostCount = 0;
  readonly #open: () => Target;
  #target: Target;
  /** Takes the place of `target` when the batch under way is written. */
  #nextTarget: Target | undefined;
  readonly #options: LineSinkOptions;
  readonly #maxHeldLength: number;
  #held: string[] = [];
  #heldLength = 0;
  #scheduled = false;
  #writing = false;
  #closed = false;
  #unreported: string | undefined;
  #reportTimer: NodeJS.Timeout | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(open: () => Target, options: LineSinkOptions) {
    this.#open = open;
    this.#target = open();
    this.#options = options;
    this.#maxHeldLength = options.maxHeldLength ?? 4 * 1024 * 1024;
  }

  write(line: string): void {
    if (this.#closed || this.#heldLength + line.length > this.#maxHeldLength) {
      this.#lose(1, this.#closed ? 'it is closed' : 'it takes them too slowly');
      return;
    }
    this.#held.push(line);
    this.#heldLength += line.length;
    this.#schedule();
  }

  reopen(): void {
    if (this.#closed) return;
    const target = this.#open();
    void this.#nextTarget?.close();
    this.#nextTarget = target;
    if (!this.#writing) this.#changeTarget();
  }

  #changeTarget(): void {
    if (this.#nextTarget === undefined) return;
    void this.#target.close();
    this.#target = this.#nextTarget;
    this.#nextTarget = undefined;
  }

  async close(graceMs: number = 1000): Promise<void> {
    if (this.#closed) return;
    if (this.#held.length > 0 || this.#writing) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        this.#whenIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#closed = true;
    if (this.#held.length > 0) this.#lose(this.#held.length, 'it takes them too slowly');
    this.#held = [];
    clearTimeout(this.#reportTimer);
    this.#report();
    await Promise.all([this.#target.close(), this.#nextTarget?.close()]);
  }

  #schedule(): void {
    if (this.#scheduled || this.#writing) return;
    this.#scheduled = true;
    setTimeout(() => this.#flush(), gatherMs);
  }

  #flush(): void {
    this.#scheduled = false;
    const lines = this.#held;
    if (lines.length === 0 || this.#closed) {
      this.#whenIdle?.();
      return;
    }
    this.#held = [];
    this.#heldLength = 0;
    this.#writing = true;
    this.#target.write(Buffer.from(lines.join('')), (error) => {
      this.#writing = false;
      this.#changeTarget();
      if (error !== undefined) this.#lose(lines.length, error.message);
      if (this.#whenIdle !== undefined) this.#flush();
      else if (this.#held.length > 0) this.#schedule();
    });
  }

  #lose(count: number, reason: string): void {
    this.lostCount += count;
    this.#unreported = reason;
    if (this.#reportTimer !== undefined || this.#closed) return;
    this.#report();
    this.#reportTimer = setTimeout(() => {
      this.#reportTimer = undefined;
      this.#report();
    }, this.#options.problemIntervalMs ?? 1000);
    this.#reportTimer.unref();
  }

  #report(): void {
    if (this.#unreported === undefined) return;
    const reason = this.#unreported;
    this.#unreported = undefined;
    this.#options.onLost?.(reason, this.lostCount);
  }
}

function openForAppend(path: string): number {
  // O_NONBLOCK: a named pipe without a reader is an error here, not a process that hangs.
  return openSync(path, constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NONBLOCK, 0o640);
}

function fileTarget(fd: number, owned: boolean): Target {
  let isClosed = false;
  return {
    write(batch, done) {
      let offset = 0;
      const next = (): void => {
        // The number of a closed file soon belongs to another one, a client's connection perhaps.
        if (isClosed) return done(new Error('it takes them too slowly'));
        write(fd, batch, offset, batch.length - offset, null, (error, writtenBytes) => {
          if (error?.code === 'EAGAIN') {
            setTimeout(next, retryMs);
            return;
          }
          if (error !== null) return done(error);
          offset += writtenBytes;
          if (offset < batch.length) return next();
          done(undefined);
        });
      };
      next();
    },
    close() {
      isClosed = true;
      return owned ? new Promise((resolve) => close(fd, () => resolve())) : Promise.resolve();
    },
  };
}

function standardTarget(fd: 1 | 2): Target {
  if (isFile(fd)) return fileTarget(fd, false);
  const stream = fd === 1 ? process.stdout : process.stderr;
  // EPIPE comes here, also late, for bytes under way; without a listener it would end the process.
  if (!stream.listeners('error').includes(ignoreError)) stream.on('error', ignoreError);
  return {
    write(batch, done) {
      if (stream.destroyed) {
        setImmediate(done, new Error('its reader is gone'));
        return;
      }
      stream.write(batch, (error) => done(error ?? undefined));
    },
    close: () => Promise.resolve(),
  };
}

function ignoreError(): void {}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}
